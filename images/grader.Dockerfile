# Grades a class behind Landlock, as an ordinary user, with Docker's defaults and no capability:
#
#   docker build -f images/grader.Dockerfile -t grader .
#   docker run --rm grader                                  # says what there is between student code and the course
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --network none \
#       -v "$PWD/submitted:/submitted:ro" grader grade /submitted --json - > marks.json
FROM python:3.12-slim-bookworm

# The course lies outside the places that student code must read for its libraries.
WORKDIR /srv/course
COPY . .
# As `make install` does. PyTorch without graphics cards saves gigabytes.
RUN python -m pip install --quiet --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        --constraint constraints.txt --editable '.[course]' --editable cellcage --editable attention_course
RUN useradd --create-home --uid 1000 grader
USER grader
ENV PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["autograder"]
CMD ["doctor"]
