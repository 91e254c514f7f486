import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalIp, cidrContains, cidrSize, cidrsOverlap, compareIps, formatCidr, formatIp } from "./ip.ts";
import { nthAddress, parseCidr, parseIp, type Cidr } from "./ip.ts";

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is not a CIDR`);
  return parsed;
};

const addresses = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ version: 4 as const, value })),
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ version: 6 as const, value })),
);
const networks = fc
  .tuple(addresses, fc.nat(128))
  .map(([ip, n]) => cidr(`${formatIp(ip)}/${Math.min(n, ip.version === 4 ? 32 : 128)}`));

describe("the IP address", () => {
  it.each([
    ["10.0.0.1", "10.0.0.1"],
    ["255.255.255.255", "255.255.255.255"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::", "::"],
    ["1::", "1::"],
    ["0:0:1:0:0:0:0:0", "0:0:1::"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ])("%s is written %s", (text, canonical) => expect(canonicalIp(text)).toBe(canonical));

  it.each([
    ["", "nothing"],
    ["10.0.0", "three parts"],
    ["10.0.0.256", "too great a part"],
    ["10.0.0.01", "a leading zero, which some read as octal"],
    [" 10.0.0.1", "space"],
    ["10.0.0.1/24", "a prefix"],
    ["fe80::1%eth0", "a zone"],
    ["[::1]", "brackets"],
    ["1::2::3", "two gaps"],
    ["1:2:3:4:5:6:7", "seven groups"],
    ["1:2:3:4:5:6:7:8:9", "nine groups"],
    ["1:2:3:4::5:6:7:8", "a gap for no group"],
    ["12345::1", "a long group"],
    ["::1.2.3", "half an IPv4"],
    ["1.2.3.4::", "IPv4 in front"],
    [":1", "a lone colon"],
  ])("refuses %j: %s", (text) => expect(parseIp(text)).toBeUndefined());

  it("reads back what it writes, as Node's own parser sees it", () => {
    fc.assert(
      fc.property(addresses, (ip) => {
        const text = formatIp(ip);
        expect(parseIp(text)).toEqual(ip);
        expect(isIP(text)).toBe(ip.version);
      }),
    );
  });

  it("accepts no text that Node's own parser refuses", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/));
    fc.assert(fc.property(texts, (text) => parseIp(text) === undefined || isIP(text) !== 0));
  });

  it("orders addresses as numbers, IPv4 first", () => {
    const sorted = ["::1", "10.0.0.10", "10.0.0.9"].map((t) => parseIp(t)).filter((ip) => ip !== undefined);
    expect(sorted.sort(compareIps).map(formatIp)).toEqual(["10.0.0.9", "10.0.0.10", "::1"]);
  });
});

describe("a network in CIDR notation:", () => {
  it.each(["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "::/129", "/8", "x/8"])(
    "refuses %s",
    (text) => expect(parseCidr(text)).toBeUndefined(),
  );

  it("writes a network without the host bits it was given with", () => {
    expect(formatCidr(cidr("10.1.2.3/16"))).toBe("10.1.0.0/16");
  });

  it.each([
    ["10.0.0.0/8", "10.6.0.0/24", true],
    ["10.6.0.0/24", "10.0.0.0/8", true],
    ["10.6.0.0/24", "10.6.1.0/24", false],
    ["0.0.0.0/0", "::/0", false],
    ["2001:db8::/32", "2001:db8:1::/48", true],
  ])("%s and %s overlap: %s", (a, b, overlap) => expect(cidrsOverlap(cidr(a), cidr(b))).toBe(overlap));

  it("counts addresses from both ends", () => {
    const network = cidr("192.0.2.0/24");
    const nth = (n: number) => {
      const ip = nthAddress(network, n);
      return ip && formatIp(ip);
    };
    expect([nth(0), nth(10), nth(255), nth(-1), nth(256), nth(-257)]).toEqual([
      "192.0.2.0",
      "192.0.2.10",
      "192.0.2.255",
      "192.0.2.255",
      undefined,
      undefined,
    ]);
  });

  it("contains exactly the addresses between its first and last", () => {
    fc.assert(
      fc.property(networks, addresses, (network, ip) => {
        const inside = ip.version === network.version && ip.value - network.network < cidrSize(network);
        expect(cidrContains(network, ip)).toBe(inside && ip.value >= network.network);
      }),
    );
  });

  it("overlaps another exactly if one of the two contains the other", () => {
    fc.assert(
      fc.property(networks, networks, (a, b) => {
        expect(cidrsOverlap(a, b)).toBe(cidrContains(a, b) || cidrContains(b, a));
        expect(cidrsOverlap(a, b)).toBe(cidrsOverlap(b, a));
      }),
    );
  });

  it("has every address it counts to", () => {
    fc.assert(
      fc.property(networks, fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n }), (network, n) => {
        const ip = nthAddress(network, n);
        expect(ip === undefined).toBe(n >= 0n ? n >= cidrSize(network) : -n > cidrSize(network));
        if (ip) expect(cidrContains(network, ip)).toBe(true);
      }),
    );
  });
});
