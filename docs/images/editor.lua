-- What editor.sh starts Neovim with: the shipped folder, a few colours, and then what a person would do to look at an operator.
vim.o.runtimepath = vim.env.EDITORS .. "," .. vim.o.runtimepath
vim.cmd("filetype plugin indent on | syntax on")
vim.o.termguicolors = true
vim.o.number = true
vim.o.signcolumn = "yes"
vim.o.laststatus = 2
vim.o.statusline = " %f  [gslang] %=%l:%c "
vim.o.fillchars = "eob: "
vim.o.showmode = false
vim.o.ruler = false
vim.o.shortmess = vim.o.shortmess .. "IF"
vim.o.updatetime = 200

local colours = {
  Normal = { fg = "#d5dae6", bg = "#1b1f2a" },
  NormalFloat = { fg = "#d5dae6", bg = "#262c3b" },
  FloatBorder = { fg = "#5b6785", bg = "#262c3b" },
  LineNr = { fg = "#4d566d" },
  SignColumn = { bg = "#1b1f2a" },
  StatusLine = { fg = "#aab4cc", bg = "#2c3346" },
  Comment = { fg = "#7c869f", italic = true },
  SpecialComment = { fg = "#8fb0a0", italic = true },
  Statement = { fg = "#c99bf0", bold = true },
  Keyword = { fg = "#c99bf0" },
  Function = { fg = "#7fb7ff" },
  Identifier = { fg = "#e6c07b" },
  Type = { fg = "#67d4c8" },
  StorageClass = { fg = "#67d4c8" },
  Number = { fg = "#f2a272" },
  Constant = { fg = "#f2a272" },
  String = { fg = "#9fd37f" },
  Operator = { fg = "#9aa7c7" },
  Special = { fg = "#67d4c8" },
  PreProc = { fg = "#f08fb4" },
  LspInlayHint = { fg = "#66708a", bg = "#222837", italic = true },
  LspCodeLens = { fg = "#66708a", italic = true },
  DiagnosticError = { fg = "#ff7b85" },
  DiagnosticWarn = { fg = "#f0c674" },
  DiagnosticInfo = { fg = "#7fb7ff" },
  DiagnosticHint = { fg = "#8fa3c7" },
  DiagnosticUnderlineError = { undercurl = true, underline = true, sp = "#ff7b85", fg = "#ff7b85" },
  DiagnosticUnderlineWarn = { underline = true, sp = "#f0c674" },
  ["@function"] = { link = "Function" },
  ["@property"] = { link = "Identifier" },
  ["@variable"] = { fg = "#d5dae6" },
  ["@variable.parameter"] = { link = "Identifier" },
  ["@markup.raw.block"] = { link = "NormalFloat" },
  MatchParen = { bold = true },
}
local function paint()
  for name, colour in pairs(colours) do
    vim.api.nvim_set_hl(0, name, colour)
  end
end
paint()

vim.diagnostic.config({ virtual_text = { prefix = "■", spacing = 1 }, signs = true, underline = true, severity_sort = true })

local function shown()
  vim.wait(30000, function()
    return #vim.diagnostic.get(0) > 0
  end, 50)
  paint()
  if vim.lsp.inlay_hint then
    vim.lsp.inlay_hint.enable(true)
  end
  vim.wait(1500, function()
    return false
  end, 50)
  -- The cursor onto an operator, and its signature beside the rules.
  vim.fn.cursor(9, 14)
  vim.lsp.buf.hover({ border = "rounded", max_width = 76, max_height = 14, anchor_bias = "below", offset_x = 56 })
  vim.defer_fn(function()
    vim.cmd("redraw!")
    vim.fn.writefile({ "shown" }, vim.env.READY)
  end, 2500)
end

vim.api.nvim_create_autocmd("VimEnter", { callback = function() vim.defer_fn(shown, 500) end })
