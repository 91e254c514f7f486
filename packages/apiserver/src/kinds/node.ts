import { isIP } from "node:net";
import { fields, record, records, same, text, texts, type Json } from "../json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import type { Strategy } from "./resource.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** The path is kube-apiserver's, though the field stands in spec. */
function taintProblems(spec: Json): FieldProblem[] {
  return records(spec["taints"]).flatMap((taint, i) => {
    const field = `metadata.taints[${i}]`;
    const problems: FieldProblem[] = [];
    if (!text(taint["key"])) problems.push(required(`${field}.key`));
    const effect = text(taint["effect"]);
    if (effect === "") problems.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(effect)) problems.push(notSupported(`${field}.effect`, effect, EFFECTS));
    return problems;
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

/** Nodes register themselves with their status; a provider ID, once set, stays. */
export const nodeStrategy: Strategy = {
  keepsStatus: true,
  fill(draft) {
    draft["spec"] = record(draft["spec"]);
    draft["status"] = record(draft["status"]);
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
  },
  validate(object, old) {
    const spec = record(fields(object)["spec"]);
    const problems = [...taintProblems(spec), ...rangeProblems(spec)];
    if (!old) return problems;
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
