-- Starts the language server for rule files, in any Neovim from 0.7 on. Vim does not read this file.
--   vim.g.gslang_lsp = false               leaves it to you
--   vim.g.gslang_format_on_save = true     formats before each write

if vim.g.loaded_gslang then
  return
end
vim.g.loaded_gslang = true

local group = vim.api.nvim_create_augroup("gslang", {})

-- Before 0.11 `lsp/gslang.lua` is not read by itself.
local function start_older(buffer)
  local file = vim.api.nvim_get_runtime_file("lsp/gslang.lua", false)[1]
  local config = dofile(file)
  if vim.fn.executable(config.cmd[1]) == 0 then
    return -- colours, indentation and formatting commands work without
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  local folder = vim.fn.fnamemodify(name ~= "" and name or vim.fn.getcwd() .. "/", ":p:h")
  local root = folder
  for _, marker in ipairs(config.root_markers) do
    local found = vim.fn.findfile(marker, folder .. ";")
    found = found ~= "" and found or vim.fn.finddir(marker, folder .. ";")
    if found ~= "" then
      root = vim.fn.fnamemodify(found, ":p"):gsub("/$", ""):match("^(.*)/[^/]*$")
      break
    end
  end
  if vim.lsp.start then
    vim.lsp.start({ name = "gslang", cmd = config.cmd, root_dir = root }, { bufnr = buffer })
    return
  end
  for _, client in ipairs(vim.lsp.get_active_clients()) do
    if client.name == "gslang" and client.config.root_dir == root then
      vim.lsp.buf_attach_client(buffer, client.id)
      return
    end
  end
  local id = vim.lsp.start_client({ name = "gslang", cmd = config.cmd, root_dir = root })
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

if vim.g.gslang_lsp ~= false then
  if vim.lsp.enable then
    vim.lsp.enable("gslang")
  else
    vim.api.nvim_create_autocmd("FileType", {
      group = group,
      pattern = "gslang",
      callback = function(event)
        start_older(event and event.buf or vim.api.nvim_get_current_buf())
      end,
    })
  end
end

vim.api.nvim_create_autocmd("BufWritePre", {
  group = group,
  pattern = "*.gsl",
  callback = function()
    if vim.g.gslang_format_on_save then
      vim.cmd("silent! GslangFormat")
    end
  end,
})
