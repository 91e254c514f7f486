import { array, fields, record, records, same, text, timestamp, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Draft, Strategy, WriteContext } from "../../contract/resource.ts";

/** Requests say who made them, never change, and are approved and signed through their subresources. */
export const csrStrategy: Strategy = {
  prepareCreate(draft, { user }) {
    const spec = record(draft["spec"]);
    draft["spec"] = {
      ...spec,
      username: user.name,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: [...user.groups],
      ...(user.extra ? { extra: user.extra } : {}),
    };
    draft["status"] = {};
  },
  prepareUpdate(draft, old, context) {
    const was = fields(old);
    draft["spec"] = structuredClone(was["spec"]);
    const before = record(structuredClone(was["status"]));
    if (context.subresource === "") draft["status"] = before;
    else draft["status"] = statusAfter(draft, before, context);
  },
  validate(object, old) {
    const spec = record(fields(object)["spec"]);
    const problems: FieldProblem[] = [];
    if (!text(spec["signerName"])) problems.push(required("spec.signerName"));
    if (array(spec["usages"]).length === 0) problems.push(required("spec.usages"));
    const request = Buffer.from(text(spec["request"]), "base64").toString();
    if (!request.includes("-----BEGIN CERTIFICATE REQUEST-----")) {
      problems.push(invalidValue("spec.request", spec["request"], "PEM block type must be CERTIFICATE REQUEST"));
    }
    const seconds = spec["expirationSeconds"];
    if (typeof seconds === "number" && seconds < 600) {
      problems.push(
        invalidValue(
          "spec.expirationSeconds",
          seconds,
          "may not specify a duration less than 600 seconds (10 minutes)",
        ),
      );
    }
    return [...problems, ...conditionProblems(record(fields(object)["status"]), old && record(fields(old)["status"]))];
  },
};

const DECISIONS = ["Approved", "Denied"];

/**
 * "approval" writes conditions and nothing else; "status" the certificate and those conditions that are no decisions.
 */
function statusAfter(draft: Draft, before: Json, { subresource, cluster }: WriteContext): Json {
  const wanted = record(draft["status"]);
  const now = timestamp(cluster.clock.now());
  const decided = (c: Json): boolean => DECISIONS.includes(text(c["type"]));
  const approval = subresource === "approval";
  const [was, given] = [records(before["conditions"]), records(wanted["conditions"])];
  const chosen = approval ? given : [...was.filter(decided), ...given.filter((c) => !decided(c))];
  const conditions = chosen.map((c) => {
    const one = was.find(({ type, status }) => type === c["type"] && status === c["status"]);
    const since = c["lastTransitionTime"] ?? one?.["lastTransitionTime"] ?? now;
    return { ...c, lastUpdateTime: c["lastUpdateTime"] ?? now, lastTransitionTime: since };
  });
  const certificate = approval ? before["certificate"] : wanted["certificate"];
  return {
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(certificate === undefined || certificate === "" ? {} : { certificate }),
  };
}

function conditionProblems(status: Json, before: Json | undefined): FieldProblem[] {
  const decisions = (s: Json): Json[] => records(s["conditions"]).filter((c) => DECISIONS.includes(text(c["type"])));
  const now = decisions(status);
  const problems: FieldProblem[] = [];
  if (new Set(now.map((c) => c["type"])).size > 1) {
    problems.push(invalidValue("status.conditions", "", "Approved and Denied conditions are mutually exclusive"));
  }
  for (const was of before ? decisions(before) : []) {
    if (!now.some((c) => c["type"] === was["type"])) {
      const why = `updates may not remove a condition of type ${JSON.stringify(was["type"])}`;
      problems.push({ field: "status.conditions", message: `Forbidden: ${why}`, reason: "FieldValueForbidden" });
    }
  }
  const changed = before?.["certificate"] !== undefined && !same(before["certificate"], status["certificate"]);
  if (changed) {
    const message = "Forbidden: updates may not change existing certificate content";
    problems.push({ field: "status.certificate", message, reason: "FieldValueForbidden" });
  }
  return problems;
}
