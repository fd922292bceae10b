# Two images for a JupyterHub, on Kubernetes or elsewhere. They differ in what they hold:
#
#   docker build -f images/hub.Dockerfile --target student -t course-student .         # no suite, no solution
#   docker build -f images/hub.Dockerfile --target instructor -t course-instructor .   # all of it, and grading
#
# JUPYTERHUB must be the hub's own version.
FROM python:3.12-slim-bookworm AS wheel
WORKDIR /build
COPY . .
RUN python -m pip wheel --quiet --no-cache-dir --no-deps --wheel-dir /wheel . ./cellcage ./attention_course

FROM python:3.12-slim-bookworm AS base
ARG JUPYTERHUB="jupyterhub==5.*"
RUN python -m pip install --quiet --no-cache-dir "$JUPYTERHUB"
RUN useradd --create-home --uid 1000 jovyan && mkdir -p /etc/jupyter
COPY images/nbgrader_config.py /etc/jupyter/nbgrader_config.py
WORKDIR /home/jovyan
CMD ["jupyterhub-singleuser"]

FROM base AS student
COPY constraints.txt /tmp/constraints.txt
COPY --from=wheel /wheel /tmp/wheel
RUN python -m pip install --quiet --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        --constraint /tmp/constraints.txt /tmp/wheel/cellcage-*.whl /tmp/wheel/sandboxed_autograder-*.whl \
        "$(echo /tmp/wheel/multi_head_attention_course-*.whl)[course]"
USER jovyan

# Instructors copy /srv/course to their home folder, or mount one there, and grade in it.
FROM base AS instructor
COPY . /srv/course
RUN cd /srv/course && python -m pip install --quiet --no-cache-dir \
        --extra-index-url https://download.pytorch.org/whl/cpu --constraint constraints.txt --editable '.[course]' --editable cellcage --editable attention_course
USER jovyan
