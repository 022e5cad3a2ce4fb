// Applies the chosen theme before the first paint; the default follows the system.
{
  const said = localStorage.getItem("theme");
  if (said === "light" || said === "dark") document.documentElement.dataset.theme = said;
}
