/**
 * What happens next never depends on the words of a reason or a message (docs/style.md): a word that is changed would
 * change behaviour in silence. A field of the data says it: an error's code, a boolean, a discriminant.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files whose conditions read a text, and why. One without such a condition must be removed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "addons/src/health/pod-problem.ts": "reasons of a container that waits are the kubelet's contract",
  "apiserver/src/admission/policies/plugin.ts": "the reason of a policy is an enumeration of the API",
  "apiserver/src/kinds/core/pod-columns.ts": "kubectl's column STATUS is a rule about reasons of Pods",
  "apiserver/src/schema/cel/rules.ts": "the reason of a rule is an enumeration of the API",
  "apiserver/src/schema/compile.ts": "the reason of a field's error is an enumeration of the API",
  "apiserver/src/schema/definition/rules.ts": "the reason of a rule is an enumeration of the API",
  "apiserver/src/server/log-limit.ts": "counts messages, whatever they say",
  "apiserver/src/server/warnings.ts": "leaves out a warning that was sent, whatever it says",
  "causeway/src/commands/up/demo/view.ts": "a table of reasons, which are a contract, chooses what the view shows",
  "cluster-api/src/machine/conditions.ts": "Cluster API's reasons of NodeHealthy say who wrote the condition",
  "hosted-control-plane/src/pods/rollout.ts": "reasons of Pods and containers are Kubernetes' contract",
  "magnum-api/src/cluster/addon-status.ts": "reasons of an AddonSet's conditions, which are a contract, choose words",
  "magnum-api/src/cluster/public-text.ts": "a table of reasons, which are a contract, chooses what users read",
  "magnum-api/src/cluster/findings.ts": "a table of reasons, which are a contract, with the outlook of each",
  "openstack-operator/src/deployment/pod-problem.ts": "reasons of a container that waits are the kubelet's contract",
  "workload-controllers/src/scheduler/message.ts": "counts reasons, whatever they say",
  "causeway/src/terminal/report-error.ts": "only leaves out a cause that the message has already",
  "cinder-csi/src/controller/attachment.ts": "only leaves out an id that the message has already",
  "hosted-control-plane/src/etcd/maintenance.ts": "etcd's refusal of a compaction has no code of its own",
  "openstack-operator/src/maintenance/model.ts": "Nova has no other field to mark a service that was disabled by us",
  "hosted-control-plane/src/webhooks/check.ts": "a refusal by a webhook has no other field for its name",
  "reverse-tunnel/src/agent/agent.ts": "a label of a metric: konnectivity has no code for a timeout",
  "apiserver/src/admission/policies/strategy.ts": "validates the message that an author of a policy wrote",
  "cluster-api/src/kubeadmcontrolplane/forwarded-access.ts":
    "etcd's refusal of a removed member has no code of its own",
  "magnum-migration/src/etcd/client.ts": "etcd's refusals have no code of their own",
  "magnum-migration/src/phases/roll/phase.ts": "Cluster API's contract has no field for a failure that is final",
  "openstack/src/errors/openstack-error.ts": "OpenStack's services say in words what a 409 is about",
  "simulator/src/kernel/store.ts": "SQLite's bindings report some failures in words only",
  "apiserver/src/store/database.ts": "SQLite's bindings report some failures in words only",
};

/** `reason`, `condition?.message`, `status["reason"]`, with a text for one that is missing. */
const TEXT = String.raw`(?:[\w?]+\.)*(?:\w+\[")?\b(?:reason|message)\b(?:"\])?(?:\s*\?\?\s*"[^"]*")?`;
const TESTS = "startsWith|endsWith|includes|match|search|indexOf";
/**
 * `reason.startsWith(…)`, `messageOf(error).includes(…)`, `PATTERN.test(reason)`, `/x/.test(step.type)`,
 * `REASONS.has(reason)`, `TABLE[reason]`, `reason === "Waiting"`, `switch (reason)`. A comparison with a named constant
 * is permitted: it is for reasons that another program's API makes a contract.
 */
const CONDITIONS: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:reason|message)(?:"\])?\s*(?:\?\?\s*""\)?)?\??\.(?:${TESTS})\(`),
  new RegExp(String.raw`\bmessageOf\(\w+\)\.(?:${TESTS})\(`),
  new RegExp(String.raw`[\w/]\.(?:test|exec)\(\s*(?:${TEXT}|messageOf\(|step\.type\b)`),
  new RegExp(String.raw`\.(?:has|get|includes)\(\s*${TEXT}\s*\)`),
  new RegExp(String.raw`[\w\]]\??\.?\[\s*${TEXT}\s*\]`),
  new RegExp(String.raw`\bswitch \(\s*${TEXT}`),
  new RegExp(String.raw`\b(?:reason|message)(?:"\])?\s*(?:\?\?\s*"[^"]*"\))?\s*[!=]==\s*"[^"]`),
];

/** Every condition on a text, as "file:line", and every exception that is not needed any more. */
export function checkTextConditions(root: string, exceptions: Readonly<Record<string, string>> = EXCEPTIONS): string[] {
  const folder = join(root, "packages");
  const files = readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name, "src"), { recursive: true, encoding: "utf8" })
      .filter(
        (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/(?:^|\/)(?:testing|scenarios)\//.test(file),
      )
      .map((file) => `${name}/src/${file}`),
  );
  const found = files.flatMap((file) =>
    conditionsIn(readFileSync(join(folder, file), "utf8")).map((line) => ({ file, line })),
  );
  const needed = new Set(found.map(({ file }) => file));
  return [
    ...found
      .filter(({ file }) => exceptions[file] === undefined)
      .map(
        ({ file, line }) => `packages/${file}:${line} decides by the text of a reason, message or type; use a field`,
      ),
    ...Object.keys(exceptions)
      .filter((file) => !needed.has(file))
      .map((file) => `scripts/text-conditions.ts: remove ${file} from the exceptions: it reads no such text`),
  ];
}

function conditionsIn(text: string): number[] {
  return text.split("\n").flatMap((line, i) => {
    // What type a value has is no word of it.
    const code = line.replaceAll(/\btypeof [^=]+[!=]== "\w+"/g, "");
    return CONDITIONS.some((condition) => condition.test(code)) ? [i + 1] : [];
  });
}
