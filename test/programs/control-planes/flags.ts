/** Every flag that a tenant may set, on real programs: one that they do not know would keep them from starting. */
import { programFlags, type FlaggedProgram, type FlagValue } from "@causeway/api";
import { Namespace, Pod, Service, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { expect } from "vitest";

type Until = <T>(what: string, check: () => Promise<T | undefined>) => Promise<T>;

const words: Readonly<Record<string, string>> = {
  enableAdmissionPlugins: "AlwaysPullImages,LimitPodHardAntiAffinityTopology,PodNodeSelector",
  serviceNodePortRange: "20000-20100",
  tlsMinVersion: "VersionTLS13",
};

/** `spec.flags` with all of them. Those that have no words here take a time, a number or a truth value. */
export function everyFlag(): Record<FlaggedProgram, Record<string, FlagValue>> {
  const of = (program: FlaggedProgram): Record<string, FlagValue> =>
    Object.fromEntries(
      programFlags[program].map(({ field, values }) => {
        const texts = field in words ? [words[field] ?? ""] : ["1h", "5m", "3600", "true"];
        const value = texts.map((text) => values.read(text)).find((one) => one !== undefined);
        if (value === undefined) throw new Error(`no value for ${field}`);
        return [field, value];
      }),
    );
  return { apiServer: of("apiServer"), controllerManager: of("controllerManager") };
}

/** The programs run with them: the API server does what they say, and the controller manager works. */
export async function expectFlags(tenant: KubernetesClient, until: Until): Promise<void> {
  await until("a port of the range", async () => {
    const ports = [{ port: 80, nodePort: 20_001 }];
    const metadata = { namespace: "default", name: "low" };
    return tenant.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { type: "NodePort", ports },
    } as Service);
  });
  await tenant.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "flags" } });
  await until("a default ServiceAccount", () => tenant.find(ServiceAccount, { namespace: "flags", name: "default" }));
  const container = { name: "c", image: "example.org/x:1", imagePullPolicy: "IfNotPresent" } as const;
  const pod = await tenant.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "flags", name: "pulled" },
    spec: { containers: [container] },
  } as Pod);
  expect(pod.spec.containers[0]).toMatchObject({ imagePullPolicy: "Always" });
}
