-- tcpstall.lua, written by `tcpstall wireshark --install`: shows in Wireshark and tshark why TCP senders waited.
--
-- `tcpstall wireshark CAPTURE` writes a capture's stalls into a side file, named after the time of the first packet:
-- Wireshark tells a dissector no file name. A side file is data: it is parsed here and never executed.

local VERSION = "1"
local MOST_BYTES = 64 * 1024 * 1024 -- of a side file: tcpstall writes no larger one

local DAMAGED = "it is damaged: write it again with `tcpstall wireshark`"

local tcpstall = Proto("tcpstall", "Why a TCP sender waited")

local fields = {
    cause = ProtoField.string("tcpstall.cause", "Cause"),
    detail = ProtoField.string("tcpstall.detail", "Detail"),
    duration = ProtoField.relative_time("tcpstall.duration", "Duration"),
    confidence = ProtoField.double("tcpstall.confidence", "Confidence"),
    sender = ProtoField.string("tcpstall.sender", "Who waited"),
    advice = ProtoField.string("tcpstall.advice", "What to change"),
    flow = ProtoField.uint32("tcpstall.flow", "Flow"),
    stall = ProtoField.uint32("tcpstall.stall", "Stall"),
    since = ProtoField.framenum("tcpstall.since", "The wait began after packet", base.NONE, frametype.NONE),
    ["until"] = ProtoField.framenum("tcpstall.until", "A wait begins here and ends with packet", base.NONE, frametype.NONE),
}
tcpstall.fields = fields
tcpstall.prefs.file = Pref.string("Side file", "", "What `tcpstall wireshark CAPTURE -o FILE` wrote")

local time_epoch = Field.new("frame.time_epoch")

-- Columns of a line, in order, each with what it must look like.
local NUMBER, SECONDS, ANY = "^%d+$", "^%-?%d+%.%d%d%d%d%d%d%d%d%d$", ""
local COLUMNS = {
    { "packet", NUMBER }, { "time", SECONDS }, { "before", "^%d*$" }, { "before_time", ANY },
    { "flow", NUMBER }, { "number", NUMBER }, { "duration", SECONDS }, { "confidence", "^[01]%.%d%d$" },
    { "sender", ANY }, { "cause", ANY }, { "detail", ANY }, { "heading", ANY }, { "advice", ANY },
}

-- Stalls by the number of their packet, and by that of the packet after which they begin; nil before the first packet.
local at, begins

local function time_of_packet()
    local time = time_epoch()
    return time and string.format("%d.%09d", time.value.secs, time.value.nsecs)
end

local function cells(line)
    local found = {}
    for cell in (line .. "\t"):gmatch("([^\t]*)\t") do
        found[#found + 1] = cell
    end
    return found
end

local function stall_of(line)
    local found = cells(line)
    if #found ~= #COLUMNS then
        return nil
    end
    local stall = {}
    for index, column in ipairs(COLUMNS) do
        if not found[index]:find(column[2]) then
            return nil
        end
        stall[column[1]] = found[index]
    end
    return stall
end

local function add(index, packet, stall)
    local number = tonumber(packet)
    index[number] = index[number] or {}
    table.insert(index[number], stall)
end

-- Takes what the file says, if it is of the capture whose first packet has this time. Returns why it cannot be used.
local function take(file, first)
    local size = file:seek("end")
    if not size or size > MOST_BYTES then
        return "it is too large for a side file"
    end
    file:seek("set")
    local header = cells(file:read("*l") or "")
    if header[1] ~= "tcpstall" then
        return "it is no side file of tcpstall"
    end
    if header[2] ~= VERSION then
        return "another version of tcpstall wrote it: run `tcpstall wireshark --install`, and tcpstall again"
    end
    if header[3] ~= first then
        return nil
    end
    local ended, begun, count = {}, {}, 0
    for line in file:lines() do
        local stall = stall_of(line)
        if not stall then
            return DAMAGED
        end
        count = count + 1
        add(ended, stall.packet, stall)
        if stall.before ~= "" then
            add(begun, stall.before, stall)
        end
    end
    if tostring(count) ~= header[4] then
        return DAMAGED
    end
    at, begins = ended, begun
end

local function use(path, first)
    local file, reason = io.open(path, "rb")
    if file then
        reason = take(file, first)
        file:close()
    end
    if reason then
        report_failure("tcpstall: cannot use " .. path .. ": " .. reason)
    end
end

local function in_cache(first)
    local cache = os.getenv("XDG_CACHE_HOME") or ""
    if cache:sub(1, 1) ~= "/" then
        cache = (os.getenv("HOME") or "") .. "/.cache"
    end
    return cache .. "/tcpstall/wireshark/" .. first .. ".tcpstall"
end

local function exists(path)
    local file = io.open(path, "rb")
    return file and file:close()
end

-- Uses the file of the preferences, else that of the user's folder; most captures have none, and nothing is said then.
local function find(first)
    at, begins = {}, {}
    if tcpstall.prefs.file ~= "" then
        use(tcpstall.prefs.file, first)
    end
    local cached = in_cache(first)
    if next(at) == nil and exists(cached) then
        use(cached, first)
    end
end

local function show(tree, stall)
    local item = tree:add(tcpstall)
    item:set_text("tcpstall: " .. stall.heading .. ": " .. stall.cause)
    local function say(field, value)
        item:add(field, value):set_generated()
    end
    local seconds, rest = stall.duration:match("(%d+)%.(%d+)")
    say(fields.cause, stall.cause)
    if stall.detail ~= "" then
        say(fields.detail, stall.detail)
    end
    say(fields.duration, NSTime.new(tonumber(seconds), tonumber(rest)))
    say(fields.confidence, tonumber(stall.confidence))
    say(fields.sender, stall.sender)
    say(fields.flow, tonumber(stall.flow))
    say(fields.stall, tonumber(stall.number))
    if stall.before ~= "" then
        say(fields.since, tonumber(stall.before))
    end
    if stall.advice ~= "" then
        say(fields.advice, stall.advice)
    end
end

function tcpstall.init()
    at, begins = nil, nil
end

function tcpstall.dissector(_, pinfo, tree)
    if not at then
        if pinfo.number ~= 1 then
            return
        end
        find(time_of_packet() or "no time")
    end
    local ended, begun = at[pinfo.number], begins[pinfo.number]
    if not (ended or begun) then
        return
    end
    local now = time_of_packet()
    for _, stall in ipairs(ended or {}) do
        if stall.time == now then
            show(tree, stall)
        end
    end
    for _, stall in ipairs(begun or {}) do
        if stall.before_time == now then
            local item = tree:add(tcpstall)
            item:set_text("tcpstall: flow " .. stall.flow .. ", stall " .. stall.number .. " begins after this packet")
            item:add(fields["until"], tonumber(stall.packet)):set_generated()
        end
    end
end

register_postdissector(tcpstall)
