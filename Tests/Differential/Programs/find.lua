-- Answers queries with Prosody's own stanza:find over trees that Prosody's own stream parser made.
--
-- Input, for each case a line and two blocks: "<mode> <length of the XML> <length of the query>\n" XML query
--   mode 0: every element keeps its namespace; mode 1: as a server runs it, jabber:client being the stream's own
-- The XML is one stanza; its first child element is the one that is asked.
-- Output, for each case a line and perhaps a block: "-\n" nothing; "e <n>\n" the n-th element below the one asked in
-- document order, itself being 0; "s <length>\n" text
package.path = "/usr/lib/prosody/?.lua;" .. package.path
package.cpath = "/usr/lib/prosody/?.so;" .. package.cpath
local xmppstream = require "util.xmppstream"

local header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
local stanza

local function stream(default_ns)
	local session = { notopen = true }
	local result = xmppstream.new(session, {
		stream_ns = "http://etherx.jabber.org/streams",
		default_ns = default_ns,
		streamopened = function(opened) opened.notopen = nil end,
		streamclosed = function() end,
		handlestanza = function(_, complete) stanza = complete end,
		error = function(_, what, more) error(tostring(what) .. " " .. tostring(more)) end,
	}, 1e9)
	assert(result:feed(header))
	return result
end

local streams = { ["0"] = stream(nil), ["1"] = stream("jabber:client") }

-- The number of the element wanted, or nil and the number of the last element seen.
local function find(element, wanted, count)
	if element == wanted then return count, count end
	for _, child in ipairs(element.tags) do
		local found, last = find(child, wanted, count + 1)
		if found then return found, found end
		count = last
	end
	return nil, count
end

local input, output = io.stdin, io.stdout
input:setvbuf("full", 1 << 20)
output:setvbuf("full", 1 << 20)
while true do
	local line = input:read("l")
	if not line then break end
	local mode, xml_length, query_length = line:match("^(%d) (%d+) (%d+)$")
	local xml = input:read(tonumber(xml_length))
	local query = input:read(tonumber(query_length))
	stanza = nil
	assert(streams[mode]:feed(xml))
	local asked = assert(stanza, "no complete stanza").tags[1]
	local answer = asked:find(query)
	if answer == nil then
		output:write("-\n")
	elseif type(answer) == "string" then
		output:write("s ", #answer, "\n", answer)
	else
		output:write("e ", assert((find(asked, answer, 0))), "\n")
	end
end
