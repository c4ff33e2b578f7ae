"use strict";
/* Search, light and dark. All words of a query must occur in a rule's name, text, documentation or verdict. */

const rules = [...document.querySelectorAll("article")].map((article) => [article, article.textContent.toLowerCase()]);
const search = document.getElementById("search"), found = document.getElementById("found"), theme = document.getElementById("theme");

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const [article, text] of rules) {
    article.hidden = !words.every((word) => text.includes(word));
    if (!article.hidden) count++;
  }
  found.textContent = words.length ? `${count} of ${rules.length} rules` : `${rules.length} rule${rules.length === 1 ? "" : "s"}`;
}

function useTheme(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = name === "dark" ? "Light" : "Dark";
}

const switchTheme = () => useTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
const preference = matchMedia("(prefers-color-scheme: dark)");
preference.addEventListener("change", () => useTheme(preference.matches ? "dark" : "light"));
useTheme(preference.matches ? "dark" : "light");
theme.onclick = switchTheme;
search.oninput = filter;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target === search) { search.value = ""; filter(); search.blur(); }
  if (event.target === search) return;
  if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
  if (event.key === "t") switchTheme();
});
document.body.dataset.ready = "";
