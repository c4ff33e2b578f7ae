-- What a person would see of the language server, as JSON into the file $ANSWER: for the tests. The buffer is the rule file.

local answer = {}

-- What a request of the buffer is answered, by its one server.
local function ask(method, params)
  local all = vim.lsp.buf_request_sync(0, method, params, 20000) or {}
  for _, one in pairs(all) do
    return one.result or { failed = one.error or "nothing" }
  end
end

local function at(line, column)
  return {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = line - 1, character = column - 1 },
  }
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)({ name = "gslang" })
end

local function messages()
  return vim.tbl_map(function(one)
    return { line = one.lnum + 1, column = one.col + 1, message = one.message, code = one.code or "" }
  end, vim.diagnostic.get(0))
end

local ok, problem = pcall(function()
  answer.filetype = vim.bo.filetype
  vim.wait(30000, function()
    return #vim.diagnostic.get(0) > 0
  end, 20)
  answer.servers = #clients()
  answer.diagnostics = messages()
  answer.hover = ask("textDocument/hover", at(6, 14))
  answer.definition = ask("textDocument/definition", at(11, 24))
  answer.completion = ask("textDocument/completion", at(6, 17))
  -- Mend the mistake as a person would; the finding must go.
  vim.fn.setline(6, (vim.fn.getline(6):gsub("stride ", "strides ")))
  vim.wait(30000, function()
    return vim.tbl_isempty(vim.tbl_filter(function(one)
      return one.code == "E0303"
    end, messages()))
  end, 20)
  answer.after = messages()
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = 20000 })
  else
    vim.lsp.buf.formatting_sync(nil, 20000)
  end
  answer.formatted = vim.api.nvim_buf_get_lines(0, 0, -1, true)
end)
if not ok then
  answer.problem = tostring(problem)
end
vim.fn.writefile({ vim.fn.json_encode(answer) }, vim.env.ANSWER)
vim.cmd("qa!")
