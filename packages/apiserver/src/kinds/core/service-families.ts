import { array, text, texts, type Json } from "../../json/json.ts";
import { invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { addressProblem } from "./address-rules.ts";
import { familyOf, type Family } from "./addresses.ts";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const POLICY = "spec.ipFamilyPolicy";

/** The rules about addresses, families and policy of a Service that hold whatever the cluster has. */
export function familyProblems(spec: Json, was: Json | undefined): FieldProblem[] {
  const ips = texts(spec["clusterIPs"]);
  return [
    ...pairProblems(text(spec["clusterIP"]), ips),
    ...listedProblems(texts(spec["ipFamilies"])),
    ...policyProblems(spec["ipFamilyPolicy"]),
    ...addressProblems(ips, texts(was?.["clusterIPs"])),
    ...matchProblems(spec, ips),
  ];
}

function pairProblems(ip: string, ips: readonly string[]): FieldProblem[] {
  if (ip === "") {
    const why = "must be empty when `clusterIP` is not specified";
    return ips.length > 0 ? [invalidValue("spec.clusterIPs", ips, why)] : [];
  }
  if (ips.length === 0) return [required("spec.clusterIPs")];
  return ips[0] === ip ? [] : [invalidValue("spec.clusterIPs", ips, "first value must match `clusterIP`")];
}

function listedProblems(families: readonly string[]): FieldProblem[] {
  return families.flatMap((family, i) => {
    const field = `spec.ipFamilies[${i}]`;
    const unknown = FAMILIES.includes(family) ? [] : [notSupported(field, family, FAMILIES)];
    const twice = { field, message: `Duplicate value: ${JSON.stringify(family)}`, reason: "FieldValueDuplicate" };
    return families.indexOf(family) < i ? [...unknown, twice] : unknown;
  });
}

function policyProblems(policy: unknown): FieldProblem[] {
  return policy === undefined || POLICIES.includes(text(policy)) ? [] : [notSupported(POLICY, policy, POLICIES)];
}

function addressProblems(ips: readonly string[], before: readonly string[]): FieldProblem[] {
  const problems = ips.flatMap((ip, i) =>
    before.includes(ip) || (i === 0 && ip === "None") ? [] : addressProblem(ip, `spec.clusterIPs[${i}]`),
  );
  if (ips[0] === "None" && ips.length > 1) {
    problems.push(invalidValue("spec.clusterIPs", ips, "'None' must be the first and only value"));
  }
  if (ips.length > 2) problems.push(invalidValue("spec.clusterIPs", ips, "may only hold up to 2 values"));
  if (problems.length > 0 || ips.length < 2) return problems;
  const isDual = new Set(ips.map(familyOf)).size === ips.length;
  return isDual ? [] : [invalidValue("spec.clusterIPs", ips, "may specify no more than one IP for each IP family")];
}

function matchProblems(spec: Json, ips: readonly string[]): FieldProblem[] {
  if (ips[0] === "None") return [];
  const families = texts(spec["ipFamilies"]);
  return ips.flatMap((ip, i) => {
    const family = families[i];
    if (!family || !FAMILIES.includes(family) || familyOf(ip) === family) return [];
    return [
      invalidValue(`spec.clusterIPs[${i}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``),
    ];
  });
}

/**
 * Settles policy and families of a Service that is written (kubernetes.io "IPv4/IPv6 dual-stack"): what its writer left
 * out follows from the addresses given, the state before, and the families that the cluster has, the first being its
 * default.
 */
export function settleFamilies(spec: Json, was: Json | undefined, available: readonly Family[]): FieldProblem[] {
  if (spec["type"] === "ExternalName" || (was && isSettled(spec, was))) return [];
  const isFree = spec["clusterIP"] === "None" && Object.keys((spec["selector"] as Json | undefined) ?? {}).length === 0;
  spec["ipFamilyPolicy"] ??= was?.["ipFamilyPolicy"] ?? (isFree ? "RequireDualStack" : "SingleStack");
  const problems = [...(was ? changeProblems(spec, was) : []), ...countProblems(spec), ...inferred(spec, available)];
  if (problems.length > 0) return problems;
  if (isFree) {
    complete(spec, { families: available, both: true });
    return [];
  }
  const missing = missingProblems(spec, available);
  if (missing.length === 0) complete(spec, { families: available, both: available.length === 2 });
  return missing;
}

/** A Service that prefers two families is not changed by a write that says nothing new. */
function isSettled(spec: Json, was: Json): boolean {
  const prefers = spec["ipFamilyPolicy"] === "PreferDualStack" && was["ipFamilyPolicy"] === "PreferDualStack";
  return prefers && spec["type"] === was["type"] && isSame("clusterIPs", spec, was) && isSame("ipFamilies", spec, was);
}

function isSame(name: string, a: Json, b: Json): boolean {
  return texts(a[name]).join() === texts(b[name]).join();
}

/** A second address or family is given up by saying so. */
function changeProblems(spec: Json, was: Json): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [name, what] of [
    ["clusterIPs", "cluster IP"],
    ["ipFamilies", "IP family"],
  ] as const) {
    const [now, before] = [texts(spec[name]), texts(was[name])];
    if (spec["ipFamilyPolicy"] === "SingleStack") {
      if (isSame(name, spec, was) && now.length > 1) spec[name] = now.slice(0, 1);
    } else if (now.length > 0 && now.length < before.length) {
      const why = `must be 'SingleStack' to release the secondary ${what}`;
      problems.push(invalidValue(POLICY, spec["ipFamilyPolicy"], why));
    }
  }
  return problems;
}

function countProblems(spec: Json): FieldProblem[] {
  if (spec["ipFamilyPolicy"] !== "SingleStack") return [];
  return [["clusterIPs", "cluster IPs"] as const, ["ipFamilies", "IP families"] as const].flatMap(([name, what]) => {
    const why = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
    return array(spec[name]).length === 2 ? [invalidValue(POLICY, "SingleStack", why)] : [];
  });
}

/** Families of the addresses that were chosen. */
function inferred(spec: Json, available: readonly Family[]): FieldProblem[] {
  const ips = texts(spec["clusterIPs"]);
  if (ips[0] === "None") return [];
  const families = [...texts(spec["ipFamilies"])];
  const problems: FieldProblem[] = [];
  for (let i = families.length; i < ips.length; i += 1) {
    const family = familyOf(ips[i] ?? "");
    if (available.includes(family)) families.push(family);
    else problems.push(invalidValue(`spec.clusterIPs[${i}]`, ips, `${family} is not configured on this cluster`));
  }
  if (families.length > 0) spec["ipFamilies"] = families;
  return problems;
}

function missingProblems(spec: Json, available: readonly Family[]): FieldProblem[] {
  const isDemanded = spec["ipFamilyPolicy"] === "RequireDualStack" && available.length < 2;
  const why = "this cluster is not configured for dual-stack services";
  const unknown = texts(spec["ipFamilies"]).flatMap((family, i) =>
    available.some((a) => a === family)
      ? []
      : [invalidValue(`spec.ipFamilies[${i}]`, family, "not configured on this cluster")],
  );
  return isDemanded ? [invalidValue(POLICY, spec["ipFamilyPolicy"], why), ...unknown] : unknown;
}

function complete(spec: Json, { families, both }: { families: readonly Family[]; both: boolean }): void {
  const [first = families[0] ?? "IPv4", second] = texts(spec["ipFamilies"]);
  const other = first === "IPv4" ? "IPv6" : "IPv4";
  const wantsTwo = both && spec["ipFamilyPolicy"] !== "SingleStack";
  spec["ipFamilies"] = second ? [first, second] : wantsTwo ? [first, other] : [first];
}
