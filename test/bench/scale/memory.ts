import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * MiB of what the informers of one process hold of the management cluster: for each machine a Machine, an
 * OpenStackMachine, a KubeadmConfig and its Secret, for each cluster its seven objects, of the sizes they have.
 */
export function cacheMemory(clusters: number, machines: number): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  const objects: unknown[] = [];
  for (let index = 0; index < clusters * 7; index++) objects.push(objectOf(`cluster-${index}`, 1_600));
  for (let index = 0; index < clusters * machines; index++) {
    for (const bytes of [1_900, 2_100, 1_300]) objects.push(objectOf(`machine-${index}`, bytes));
    objects.push({ ...objectOf(`machine-${index}`, 300), data: { value: text(index, 5_200) } });
  }
  collect();
  const mebibytes = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  // What is measured has to be alive until here.
  return objects.length > 0 ? mebibytes : 0;
}

/** An object with names, labels, owners and conditions, of about so many bytes as JSON. */
function objectOf(name: string, bytes: number): { metadata: object } {
  const condition = (type: string) => ({
    type,
    status: "True",
    reason: `${type}Reason`,
    message: "",
    lastTransitionTime: "2026-11-28T00:00:00Z",
    observedGeneration: 2,
  });
  const conditions = Array.from({ length: Math.max(1, Math.round((bytes - 700) / 160)) }, (_, i) => condition(`C${i}`));
  const object = {
    metadata: {
      name,
      namespace: "tenant-1",
      uid: `00000000-0000-4000-8000-${name.padStart(12, "0")}`,
      resourceVersion: name,
      labels: { "cluster.x-k8s.io/cluster-name": name, "cluster.x-k8s.io/deployment-name": `${name}-workers` },
      ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineSet", name, uid: name }],
      finalizers: ["machine.cluster.x-k8s.io"],
    },
    spec: { clusterName: name, version: "v1.34.1", infrastructureRef: { name, kind: "OpenStackMachine" } },
    status: { conditions },
  };
  return JSON.parse(JSON.stringify(object)) as { metadata: object };
}

/** Text of its own, not a piece of another. */
function text(index: number, bytes: number): string {
  return Buffer.alloc(bytes, `${index}-`).toString("latin1");
}
