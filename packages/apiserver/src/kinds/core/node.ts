import { isIP } from "node:net";
import { labelValueFaults, qualifiedNameFaults } from "../../syntax/names.ts";
import { copied, fields, record, records, same, text, texts, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Strategy } from "../../contract/resource.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** The path is kube-apiserver's, though the field is in spec. */
function taintProblems(spec: Json): FieldProblem[] {
  const seen = new Set<string>();
  return records(spec["taints"]).flatMap((taint, i) => {
    const field = `metadata.taints[${i}]`;
    const problems: FieldProblem[] = [];
    const key = text(taint["key"]);
    problems.push(...qualifiedNameFaults(key).map((why) => invalidValue(`${field}.key`, key, why)));
    const value = text(taint["value"]);
    const faults = labelValueFaults(value);
    if (faults.length > 0) problems.push(invalidValue(`${field}.value`, value, faults.join(";")));
    const effect = text(taint["effect"]);
    if (effect === "") problems.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(effect)) problems.push(notSupported(`${field}.effect`, effect, EFFECTS));
    if (seen.has(`${key} ${effect}`)) problems.push(twice(taint, field));
    seen.add(`${key} ${effect}`);
    return problems;
  });
}

function twice({ key, value, effect, timeAdded }: Json, field: string): FieldProblem {
  const shown = { Key: key ?? "", Value: value ?? "", Effect: effect ?? "", TimeAdded: timeAdded ?? null };
  const message = `Duplicate value: ${JSON.stringify(shown)}: taints must be unique by key and effect pair`;
  return { field, message, reason: "FieldValueDuplicate" };
}

/** Addresses that a status has twice. */
function addressProblems(status: Json): FieldProblem[] {
  const seen = new Set<string>();
  return records(status["addresses"]).flatMap((address, i) => {
    const shown = JSON.stringify({ Type: address["type"] ?? "", Address: address["address"] ?? "" });
    const isKnown = seen.has(shown);
    seen.add(shown);
    if (!isKnown) return [];
    return [{ field: `status.addresses[${i}]`, message: `Duplicate value: ${shown}`, reason: "FieldValueDuplicate" }];
  });
}

function rangeProblems(spec: Json): FieldProblem[] {
  const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  const ranges = texts(spec["podCIDRs"]);
  const wrong = ranges.flatMap((range, i) =>
    isNetwork(range) ? [] : [invalidValue(`spec.podCIDRs[${i}]`, range, why)],
  );
  const families = ranges.map((range) => isIP(range.split("/")[0] ?? ""));
  if (wrong.length > 0 || new Set(families).size === families.length) return wrong;
  return [invalidValue("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family")];
}

function isNetwork(range: string): boolean {
  const [address = "", length = "", ...more] = range.split("/");
  const family = isIP(address);
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

/** Nodes register themselves with their status; a provider ID, once set, remains. */
export const nodeStrategy: Strategy = {
  keepsStatus: true,
  applyDefaults(draft) {
    draft["spec"] = record(draft["spec"]);
    draft["status"] = record(draft["status"]);
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = copied(fields(old)["spec"]);
  },
  validate(object, old) {
    const spec = record(fields(object)["spec"]);
    const always = [...taintProblems(spec), ...rangeProblems(spec)];
    if (!old) return always;
    const problems = [...always, ...addressProblems(record(fields(object)["status"]))];
    const was = record(fields(old)["spec"]);
    if (text(was["providerID"]) && spec["providerID"] !== was["providerID"]) {
      problems.push(
        forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'),
      );
    }
    if (was["podCIDR"] && !same(spec["podCIDRs"], was["podCIDRs"])) {
      problems.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
    }
    return problems;
  },
};
