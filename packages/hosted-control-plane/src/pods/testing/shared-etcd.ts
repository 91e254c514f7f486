/** The shared etcd in memory: what its plan does, and what there is then. */
import type { KubeObject, Namespace } from "@causeway/kubernetes";
import { idOf } from "../live.ts";
import { fileNames } from "../plan-credentials.ts";
import type { Observed } from "../pool/gather.ts";
import { plan } from "../pool/plan.ts";
import type { Step } from "../steps.ts";
import { inputsAnnotation, poolNamespaceOf, renewAtAnnotation } from "../tenant.ts";

/** The time of all plans. */
export const now = Date.UTC(2026, 0, 1);
/** Of its operator. */
export const settings = { owner: "here" };
/** Nothing was made yet. */
export const nothing: Observed = {
  settings,
  namespaceName: poolNamespaceOf("here"),
  namespace: undefined,
  live: new Map(),
  pods: [],
  holdsData: false,
  authEnabled: false,
  isOfAnother: false,
  behind: () => [],
};

/** What the service cluster holds after the steps. */
function after(observed: Observed, steps: readonly Step[]): Observed {
  const live = new Map(observed.live);
  let { namespace, authEnabled } = observed;
  for (const step of steps) {
    if (step.type === "apply-namespace") namespace = step.object as Namespace;
    if (step.type === "apply") live.set(step.id, step.object);
    if (step.type === "enable-auth") authEnabled = true;
    if (step.type === "copy") {
      const { name, data, id } = step;
      live.set(id, { apiVersion: "v1", kind: "Secret", metadata: { name }, data } as KubeObject);
    }
    if (step.type !== "issue") continue;
    const { name, entries, inputs } = step.credentials;
    const annotations = { [inputsAnnotation]: inputs, [renewAtAnnotation]: String(now + 1e9) };
    const data = Object.fromEntries(entries.flatMap(fileNames).map((file) => [file, "eA=="]));
    live.set(step.id, { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, data } as KubeObject);
  }
  return { ...observed, namespace, live, authEnabled };
}

/** Plans and performs until nothing is left to do. */
export function settle(observed: Observed): { world: Observed; performed: string[]; issued: Step[] } {
  const performed: string[] = [];
  const issued: Step[] = [];
  for (let world = observed, rounds = 0; ; rounds++) {
    if (rounds > 30) throw new Error(`it does not end: ${performed.join(", ")}`);
    const { steps } = plan(world, now);
    if (steps.length === 0) return { world, performed, issued };
    performed.push(...steps.map((step) => ("object" in step ? `${step.type} ${idOf(step.object)}` : step.type)));
    issued.push(...steps.filter(({ type }) => type === "issue"));
    world = after(world, steps);
  }
}

/** A member that is ready. */
export const podOf = (index: number): Observed["pods"][number] => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `etcd-${index}`, labels: { "app.kubernetes.io/component": "etcd" } },
  spec: { containers: [] },
  status: { podIP: `10.0.0.${index}`, conditions: [{ type: "Ready", status: "True" }] },
});
/** With all of its members. */
export const serving = (): Observed => ({ ...settle(nothing).world, pods: [podOf(0), podOf(1), podOf(2)] });
/** With more annotations of its namespace. */
export const annotated = (world: Observed, annotations: Record<string, string>): Observed => {
  const { namespace } = world;
  const metadata = { ...namespace?.metadata, annotations: { ...namespace?.metadata.annotations, ...annotations } };
  return { ...world, namespace: { ...namespace, metadata } as Namespace };
};
