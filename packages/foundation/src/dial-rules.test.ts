import { expect, test } from "vitest";
import { dialRefusal, type DialRules } from "./dial-rules.ts";
import { parseCidr, type Cidr } from "./ip.ts";

const cidrs = (...texts: string[]): Cidr[] => texts.map(parseCidr).filter((cidr) => cidr !== undefined);
const tenant: DialRules = {
  allow: cidrs("10.0.0.0/8", "fd12::/16", "169.254.25.10/32"),
  deny: cidrs("10.250.0.0/16"),
  names: ["svc", "example.com"],
};
const open: DialRules = { allow: undefined, deny: cidrs("10.250.0.0/16"), names: undefined };
const wide: DialRules = { allow: cidrs("0.0.0.0/0", "::/0"), deny: [], names: undefined };

const rows: [title: string, rules: DialRules, host: string, port: number, refusal: RegExp | undefined][] = [
  ["an address of an allowed network", tenant, "10.1.2.3", 10250, undefined],
  ["an IPv6 address of an allowed network", tenant, "fd12::1", 10250, undefined],
  ["an address of no allowed network", tenant, "192.0.2.1", 443, /in no allowed network/],
  ["an address of a denied network within an allowed one", tenant, "10.250.0.1", 443, /in a denied network/],
  [
    "an IPv4 address in IPv6 of a denied network",
    tenant,
    "::ffff:10.250.0.1",
    443,
    /10\.250\.0\.1 is in a denied network/,
  ],
  ["an IPv4 address behind NAT64", open, "64:ff9b::a9fe:a9fe", 80, /169\.254\.169\.254 is a link-local address/],
  [
    "a link-local address that is allowed by itself, as a DNS cache of the node",
    tenant,
    "169.254.25.10",
    53,
    undefined,
  ],
  ["the metadata service with every network allowed", wide, "169.254.169.254", 80, /link-local/],
  ["loopback with every network allowed", wide, "127.0.0.1", 80, /loopback/],
  ["loopback of IPv6", wide, "::1", 80, /loopback/],
  ["an unspecified address", wide, "0.0.0.0", 80, /unspecified/],
  ["an unspecified address of IPv6", wide, "::", 80, /unspecified/],
  ["a multicast address", wide, "ff02::1", 80, /multicast/],
  ["any other address without a list", open, "203.0.113.7", 443, undefined],
  ["the name of a Service", tenant, "webhook.default.svc", 443, undefined],
  ["a name with a final dot", tenant, "node-1.example.com.", 10250, undefined],
  ["a name that only ends with the letters of an allowed one", tenant, "evilexample.com", 443, /not an allowed name/],
  ["localhost", open, "localhost", 443, /this machine/],
  ["a name below localhost", open, "a.LOCALHOST", 443, /this machine/],
  ["a decimal address", open, "2130706433", 443, /neither an address nor a DNS name/],
  ["a hexadecimal address", open, "0x7f.0x1", 443, /neither an address nor a DNS name/],
  ["an octal address", open, "0177.0.0.1", 443, /neither an address nor a DNS name/],
  ["a name with a character that names do not have", open, "a b", 443, /neither an address nor a DNS name/],
  ["an address with a zone", open, "fe80::1%eth0", 443, /neither an address nor a DNS name/],
  ["port 0", open, "203.0.113.7", 0, /port 0/],
  ["a port beyond the last", open, "203.0.113.7", 65_536, /port 65536/],
];
test.each(rows)("the rules of outgoing connections allow or refuse %s", (_title, rules, host, port, refusal) => {
  const found = dialRefusal(rules, host, port);
  if (refusal) expect(found).toMatch(refusal);
  else expect(found).toBeUndefined();
});
