-- with_prosody.lua STREAM CHUNK PASSES: the same with util.xmppstream of Prosody, from the Debian package, run by LuaJIT.
-- Prints the CPU time of each pass in milliseconds.
package.path = "/usr/lib/prosody/?.lua;" .. package.path;
package.cpath = "/usr/lib/prosody/?.so;" .. package.cpath;
if _VERSION == "Lua 5.1" then
	-- The package's C modules are for a newer Lua; checking UTF-8 again is not what is measured.
	package.preload["util.encodings"] = function() return { utf8 = { valid = function() return true; end } }; end
end
local xmppstream = require "util.xmppstream";
local file = assert(io.open(arg[1], "rb"));
local data = file:read("*a");
file:close();
local size = tonumber(arg[2]);

local function read()
	local count = 0;
	local session = { notopen = true };
	local stream = xmppstream.new(session, {
		stream_ns = "http://etherx.jabber.org/streams", default_ns = "jabber:client";
		streamopened = function(self) self.notopen = nil; end;
		streamclosed = function() end;
		handlestanza = function() count = count + 1; end;
		error = function(_, condition) error(tostring(condition)); end;
	}, 16 * 1024 * 1024);
	for start = 1, #data, size do assert(stream:feed(data:sub(start, start + size - 1))); end
	return count;
end

for _ = 1, tonumber(arg[3]) do
	local start = os.clock();
	assert(read() > 0);
	print((os.clock() - start) * 1000);
end
