import { parseCidr, parseIp } from "@causeway/foundation";
import { invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";

/** What is wrong with an IP address, in kube-apiserver's words: nothing when it is one. */
export function addressProblem(ip: string, field: string): FieldProblem[] {
  return parseIp(ip) ? [] : [invalidValue(field, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
}

/** What is wrong with a network. */
export function rangeProblem(cidr: string, field: string): FieldProblem[] {
  if (parseCidr(cidr)) return [];
  return [invalidValue(field, cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
}

/** Addresses whose meaning differs on every machine (loopback, link-local) cannot be endpoints. */
export function reachProblems(ip: string, field: string): FieldProblem[] {
  const parsed = parseIp(ip);
  if (!parsed) return [];
  const { version, value } = parsed;
  const starts = (bits: bigint, prefix: number): boolean =>
    value >> BigInt((version === 4 ? 32 : 128) - prefix) === bits;
  const is = (four: boolean, six: boolean): boolean => (version === 4 ? four : six);
  const faults: [boolean, string][] = [
    [value === 0n, `may not be unspecified (${ip})`],
    [is(starts(127n, 8), value === 1n), "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
    [is(starts(0xa9_fen, 16), starts(0x3fan, 10)), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
    [
      is(starts(0xe0_00_00n, 24), starts(0xff02n, 16)),
      "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
    ],
  ];
  return faults.filter(([isSo]) => isSo).map(([, why]) => invalidValue(field, ip, why));
}
