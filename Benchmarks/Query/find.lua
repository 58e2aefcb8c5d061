-- luajit|lua5.4 find.lua SAMPLES PASSES: the queries of Benchmarks/Sources/query with Prosody's own stanza:find, one
-- line of JSON for each. Where find has no filter, the last step is get_child_with_attr.
package.path = "/usr/lib/prosody/?.lua;" .. package.path
package.cpath = "/usr/lib/prosody/?.so;" .. package.cpath
if jit then
    -- Prosody's modules in C are built for Lua 5.4. Of this one the stanzas use one function, for text that is written.
    package.preload["util.encodings"] = function() return { utf8 = { valid = function() return true end } } end
end

local samples, passes = arg[1], tonumber(arg[2])
local streams = require "util.xmppstream"

local function read(kind)
    local stanzas = {}
    local session = { notopen = true }
    local parser = streams.new(session, {
        stream_ns = "http://etherx.jabber.org/streams", default_ns = "jabber:client",
        streamopened = function() session.notopen = nil end, streamclosed = function() end,
        handlestanza = function(_, stanza) stanzas[#stanzas + 1] = stanza end,
        error = function(_, problem) error(problem) end,
    }, 2 ^ 30)
    local file = assert(io.open(samples .. "/" .. kind .. ".xml", "rb"))
    assert(parser:feed(file:read("*a")))
    file:close()
    return stanzas
end

local function find(path) return function(stanza) return stanza:find(path) end end

local function filtered(path, name, attribute, value, wantsText)
    return function(stanza)
        local parent = stanza:find(path)
        local child = parent and parent:get_child_with_attr(name, nil, attribute, value)
        if child and wantsText then return child:get_text() end
        return child
    end
end

local queries = {
    { "chat", find "body#" },
    { "chat", find "@from" },
    { "chat", find "{urn:xmpp:sid:0}stanza-id@id" },
    { "mam", find "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#" },
    { "mam", find "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp" },
    { "mucpres", find "{http://jabber.org/protocol/muc#user}x/item@role" },
    { "omemo", filtered("{eu.siacs.conversations.axolotl}encrypted/header", "key", "prekey", "true", true) },
    { "disco", filtered("{http://jabber.org/protocol/disco#info}query", "feature", "var", "urn:xmpp:mam:2") },
    { "chat", find "{urn:xmpp:chat-markers:0}markable" },
    { "chat", find "{urn:xmpp:hints}no-store" },
}

for number, query in ipairs(queries) do
    local stanzas, ask = read(query[1]), query[2]
    local hits, length, start
    for pass = -passes, passes - 1 do
        -- As many passes before, for the compiler to settle.
        if pass == 0 then hits, length, start = 0, 0, os.clock() end
        if pass == -passes then hits, length = 0, 0 end
        for place = 1, #stanzas do
            local found = ask(stanzas[place])
            if found then
                hits = hits + 1
                if type(found) == "string" then length = length + #found end
            end
        end
    end
    local nanoseconds = (os.clock() - start) * 1e9 / passes / #stanzas
    print(string.format(
        '{"query":"Q%d","how":"find","ns":%.3f,"hits":%d,"length":%d}', number, nanoseconds, hits / passes,
        length / passes))
end
