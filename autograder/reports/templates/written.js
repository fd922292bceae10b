"use strict";

// A group is decided once its points field holds a number; a click on the rubric fills it in.
let unsaved = false;

function parts(article) {
  return {
    lines: [...article.querySelectorAll(".line input")],
    points: article.querySelector(".points"),
    comment: article.querySelector(".comment"),
  };
}

function isDecided(article) {
  const { points } = parts(article);
  return points.value !== "" && points.checkValidity();
}

function who(article) {
  return [...article.querySelectorAll(".wording")].flatMap((wording) => JSON.parse(wording.dataset.who));
}

// What the student will read: the clicked lines, and then the grader's own words; null leaves an earlier comment.
// Lines that were not clicked are the model answer's points, which a student who hands in again must not read.
function comment(article) {
  const { lines, comment } = parts(article);
  const told = lines.filter((line) => line.checked).map((line) => `- ✓ ${line.dataset.text}`).join("\n");
  const text = [told, comment.value.trim()].filter(Boolean).join("\n\n");
  return text || article.dataset.byLines === "yes" ? text : null;
}

function show(article) {
  const { points } = parts(article);
  const decided = isDecided(article);
  article.classList.toggle("decided", decided);
  const wrong = points.value === "" && points.validity.valid ? "Open" : `Points go from 0 to ${points.max}`;
  article.querySelector(".state").textContent = decided ? `✓ Decided: ${points.value} of ${points.max}` : wrong;
}

function progress() {
  const count = (articles) => articles.reduce((sum, article) => sum + who(article).length, 0);
  const all = [...document.querySelectorAll("article")];
  const open = all.filter((article) => !article.closest("details"));
  const text = `${count(open.filter(isDecided))} of ${count(open)} answers decided`;
  const again = count(all.filter((article) => article.closest("details") && isDecided(article)));
  document.querySelector(".progress").textContent = text + (again ? `, ${again} changed` : "");
}

function changed(article) {
  unsaved = true;
  show(article);
  progress();
}

function byLines(article) {
  const { lines, points } = parts(article);
  const sum = lines.filter((line) => line.checked).reduce((all, line) => all + Number(line.dataset.points), 0);
  article.dataset.byLines = "yes";
  points.value = String(Math.min(Number(points.max), Math.round(sum * 100) / 100));
}

function apart(wording) {
  const article = wording.closest("article");
  const own = article.cloneNode(true);
  own.querySelector(".wordings").replaceChildren(wording);
  wording.querySelector(".apart").remove();
  own.querySelector("form").reset();
  delete own.dataset.byLines;
  article.after(own);
  [article, own].forEach(show);
  own.querySelector("input").focus();
  progress();
}

document.addEventListener("input", ({ target }) => {
  const article = target.closest("article");
  if (target.matches(".line input")) byLines(article);
  changed(article);
});

document.addEventListener("click", ({ target }) => {
  if (target.matches(".apart")) apart(target.closest(".wording"));
  if (target.matches(".none")) {
    const article = target.closest("article");
    parts(article).lines.forEach((line) => (line.checked = false));
    byLines(article);
    changed(article);
  }
  if (target.matches(".save")) save(target.dataset.assignment);
});

document.addEventListener("submit", (event) => event.preventDefault());

function save(assignment) {
  const decisions = [...document.querySelectorAll("article")].filter(isDecided).flatMap((article) =>
    who(article).map(([student, answer, before]) => ({
      question: article.dataset.question,
      student,
      answer,
      before,
      score: Number(parts(article).points.value),
      comment: comment(article),
    })),
  );
  const file = new Blob([JSON.stringify({ assignment, decisions }, null, 1)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${assignment}.decisions.json`;
  link.click();
  unsaved = false;
}

window.addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});

progress();
