// Applies the chosen theme before the page is painted; without a choice the system's holds.
(() => {
  const chosen = localStorage.getItem('gameq-theme');
  if (chosen === 'light' || chosen === 'dark') {
    document.documentElement.dataset.theme = chosen;
  }
})();
