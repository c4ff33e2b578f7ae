-- The language server for Neovim 0.11 or newer, which reads this file by its name. To change a part of it:
--   vim.lsp.config("gslang", { cmd = { ".venv/bin/gslc", "lsp" } })
return {
  cmd = { "gslc", "lsp" },
  filetypes = { "gslang" },
  root_markers = { "gslang.toml", "pyproject.toml", ".git" },
}
