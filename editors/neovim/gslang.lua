-- Neovim 0.11 or newer: put `editors/vim` on the runtime path for colours, and source this file for the language server.
vim.filetype.add({ extension = { gsl = "gslang" } })
vim.lsp.config("gslang", { cmd = { "gslc", "lsp" }, filetypes = { "gslang" }, root_markers = { ".git" } })
vim.lsp.enable("gslang")
