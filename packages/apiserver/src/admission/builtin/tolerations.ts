import { record, records, text } from "../../json/json.ts";
import type { Draft } from "../../contract/resource.ts";

const SECONDS = 300;
const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Pods remain five minutes on nodes that went away, unless they say what they tolerate (DefaultTolerationSeconds). */
export function admitTolerations(pod: Draft): void {
  const spec = record(pod["spec"]);
  const given = records(spec["tolerations"]);
  const missing = TAINTS.filter(
    (key) => !given.some((t) => ["", key].includes(text(t["key"])) && ["", "NoExecute"].includes(text(t["effect"]))),
  );
  const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: SECONDS }));
  spec["tolerations"] = [...given, ...added];
}
