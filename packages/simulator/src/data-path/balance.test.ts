import { describe, expect, test } from "vitest";
import { AddressTable, loopbackOf } from "./addresses.ts";
import { isAllowed } from "./admission.ts";
import { PoolMemory } from "./balance.ts";
import { proxyHeader } from "./connect-member.ts";
import { forwardedHeaders, returnedHeaders } from "./http-messages.ts";
import type { Backend, BackendMember, Frontend } from "./model.ts";

const member = (id: string, more: Partial<BackendMember> = {}): BackendMember => {
  const place = { address: "10.0.0.1", port: 80 };
  return { id, ...place, weight: 1, backup: false, down: false, probed: place, ...more };
};
const pool = (algorithm: string, members: readonly BackendMember[]): Backend => {
  return {
    id: "p",
    algorithm,
    persistence: undefined,
    proxyProtocol: undefined,
    tls: undefined,
    members,
    monitor: undefined,
  };
};
const chosen = (backend: Backend, times: number): string => {
  const memory = new PoolMemory();
  return Array.from({ length: times }, () => memory.choose(backend, "10.1.1.1")?.id ?? "-").join("");
};

describe("a pool", () => {
  test.each<[string, readonly BackendMember[], string]>([
    ["in turn", [member("a"), member("b")], "abab"],
    ["by weight", [member("a", { weight: 3 }), member("b")], "aabaaaba"],
    ["not to weight 0", [member("a", { weight: 0 }), member("b")], "bb"],
    ["not to one that is down", [member("a", { down: true }), member("b")], "bb"],
    ["to no backup while another serves", [member("a", { backup: true }), member("b")], "bb"],
    ["to all backups when none else serves", ["a", "b"].map((id) => member(id, { backup: true })), "abab"],
    [
      "to no backup while another is up with weight 0",
      [member("a", { backup: true }), member("b", { weight: 0 })],
      "--",
    ],
    ["to none without members", [], "--"],
  ])("sends requests %s", (_, members, wanted) => {
    expect(chosen(pool("ROUND_ROBIN", members), wanted.length)).toBe(wanted);
  });

  test("with SOURCE_IP keeps a source with one member, and uses all members", () => {
    const backend = pool("SOURCE_IP", [member("a"), member("b")]);
    const memory = new PoolMemory();
    const of = (last: number): string => memory.choose(backend, `10.0.0.${last}`)?.id ?? "";
    const all = Array.from({ length: 50 }, (_, i) => of(i));
    expect(all).toEqual(Array.from({ length: 50 }, (_, i) => of(i)));
    expect(new Set(all).size).toBe(2);
  });

  test("with LEAST_CONNECTIONS prefers the member with fewer connections for its weight", () => {
    const [a, b] = [member("a", { weight: 2 }), member("b")];
    const backend = pool("LEAST_CONNECTIONS", [a, b]);
    const memory = new PoolMemory();
    const ends = [memory.connected(a), memory.connected(b)];
    expect(memory.choose(backend, "")?.id).toBe("a");
    ends.push(memory.connected(a), memory.connected(a));
    expect(memory.choose(backend, "")?.id).toBe("b");
    for (const end of ends) end();
  });

  test("keeps a session with its member while that is up, at weight 0 too", () => {
    const memory = new PoolMemory();
    memory.stick("s", member("a"));
    expect(memory.stuck(pool("ROUND_ROBIN", [member("a", { weight: 0 })]), "s")?.id).toBe("a");
    expect(memory.stuck(pool("ROUND_ROBIN", [member("a", { down: true })]), "s")).toBeUndefined();
  });
});

describe("the address", () => {
  test.each([
    ["10.1.2.3", "127.1.2.3"],
    ["172.24.4.9", "127.24.4.9"],
    ["2001:db8::1:203", "127.1.2.3"],
    ["fd00::", "127.0.0.0"],
  ])("%s is %s on loopback", (address, wanted) => {
    expect(loopbackOf(address)).toBe(wanted);
  });

  test("of members are on loopback, by address and port or by address", () => {
    const table = new AddressTable();
    table.setMembers({ "10.0.0.5:80": "127.0.0.1:8080", "10.0.0.6": "127.0.0.9", "10.0.0.7": "127.0.0.1:99" });
    const places = [table.member("10.0.0.5", 80), table.member("10.0.0.5", 81), table.member("10.0.0.6", 30_001)];
    expect(places).toEqual([{ host: "127.0.0.1", port: 8080 }, undefined, { host: "127.0.0.9", port: 30_001 }]);
    expect(table.member("10.0.0.7", 5)).toEqual({ host: "127.0.0.1", port: 99 });
    expect(() => table.setMembers({ "10.0.0.5:80": "192.0.2.1:80" })).toThrow("not an address of loopback");
    expect(() => table.setClients({ "192.0.2.1": "10.0.0.1" })).toThrow("not an address of loopback");
  });

  test("of clients decide whether they are allowed", () => {
    expect(isAllowed(undefined, "10.0.0.1")).toBe(true);
    expect(isAllowed(["10.0.0.0/8"], "10.0.0.1")).toBe(true);
    expect(isAllowed(["10.0.0.0/8", "fd00::/8"], "fd00::1")).toBe(true);
    expect(isAllowed(["10.0.0.0/8"], "127.0.0.1")).toBe(false);
  });
});

const frontend = (insertHeaders: readonly string[], protocol: Frontend["protocol"] = "HTTP") =>
  ({ insertHeaders: new Set(insertHeaders), protocol, port: 8080 }) as unknown as Frontend;
const facts = { source: "203.0.113.7", clientCertificate: undefined, hidesServerCookie: false };

describe("headers of the data path", () => {
  test("are passed on with those that the listener inserts, and without those of a connection", () => {
    const raw = ["Host", "a", "X-Forwarded-For", "1.1.1.1", "X-Forwarded-Proto", "spoofed", "Connection", "keep-alive"];
    const inserted = frontend(["X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto"]);
    expect(forwardedHeaders(raw, inserted, facts)).toEqual(
      "Host a X-Forwarded-For 1.1.1.1 X-Forwarded-Port 8080 X-Forwarded-Proto http X-Forwarded-For 203.0.113.7".split(
        " ",
      ),
    );
    expect(forwardedHeaders(raw, frontend([]), facts)).toContain("spoofed");
  });

  test("of a client certificate are set only where TLS ends, and replace what a client sends", () => {
    const raw = ["X-SSL-Client-CN", "spoofed"];
    const clientCertificate = { subject: { O: "o", CN: "alice" }, issuer: {}, sha1: "AB", notBefore: "", notAfter: "" };
    const names = ["X-SSL-Client-CN", "X-SSL-Client-DN", "X-SSL-Client-Verify"];
    const set = forwardedHeaders(raw, frontend(names, "TERMINATED_HTTPS"), { ...facts, clientCertificate });
    expect(set).toEqual('X-SSL-Client-Verify 0 X-SSL-Client-DN "/O=o/CN=alice" X-SSL-Client-CN "alice"'.split(" "));
  });

  test("do not show members the cookie of the load balancer, which clients get once", () => {
    const raw = ["Cookie", "a=b; SRV=m1; c=d"];
    expect(forwardedHeaders(raw, frontend([]), { ...facts, hidesServerCookie: true })).toEqual(["Cookie", "a=b; c=d"]);
    expect(returnedHeaders(["X", "1"], "m1").join(" ")).toBe("X 1 set-cookie SRV=m1; path=/ cache-control private");
  });

  test("of the PROXY protocol name both ends", () => {
    const client = { source: "192.0.2.1", sourcePort: 258, destination: "10.0.0.9", port: 443 };
    expect(proxyHeader(1, client).toString()).toBe("PROXY TCP4 192.0.2.1 10.0.0.9 258 443\r\n");
    expect(proxyHeader(2, client).toString("hex")).toBe("0d0a0d0a000d0a515549540a2111000cc00002010a000009010201bb");
    expect(proxyHeader(1, { ...client, source: "::1" }).toString()).toBe("PROXY UNKNOWN\r\n");
  });
});
