// Light or dark as the reader's machine is, unless the reader has said otherwise. Runs before anything is drawn.
{
  const said = localStorage.getItem("theme");
  if (said === "light" || said === "dark") document.documentElement.dataset.theme = said;
}
