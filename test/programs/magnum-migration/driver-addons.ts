/** What Magnum's driver installs in a cluster, by its names, as far as a migration has to do with it. */
import { ConfigMap, DaemonSet, Pod, Secret, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";

const namespace = "kube-system";
const containers = [{ name: "one", image: "example.com/one:1" }];
const secret = "cinder-csi-cloud-config";
const volumes = [{ name: "secret-cinderplugin", secret: { secretName: secret } }];

export interface DriverAddons {
  /** Has the objects with credentials name this trustee, as the driver does. */
  setTrustee(id: string): Promise<void>;
  /** What is declared of its programs: annotations, and specs without what controllers and the API server count. */
  declared(): Promise<unknown>;
  /** "KIND NAME" of each object, and "NAME on NODE" of each pod. */
  read(): Promise<{ readonly objects: readonly string[]; readonly pods: readonly string[] }>;
}

export async function installDriverAddons(client: KubernetesClient): Promise<DriverAddons> {
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const workload = (path: string, kind: string, name: string, spec: object, pod: object) =>
    client.request("POST", `${apps}/${path}`, {
      body: {
        apiVersion: "apps/v1",
        kind,
        metadata: { name, namespace, labels: { driver: "heat" } },
        spec: {
          ...spec,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name, driver: "heat" } },
            spec: { containers, ...pod, terminationGracePeriodSeconds: 0 },
          },
        },
      },
    });
  const data = { "cloud-config": Buffer.from("user-id=trustee\npassword=secret\n").toString("base64") };
  for (const name of [secret, "os-trustee"])
    await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data });
  const value = { "config.yaml": "password: secret\n" };
  const metadata = { name: "magnum-auto-healer-config", namespace };
  await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data: value });
  await workload("daemonsets", "DaemonSet", "openstack-cloud-controller-manager", {}, {});
  await workload("daemonsets", "DaemonSet", "csi-cinder-nodeplugin", {}, { volumes });
  const one = { serviceName: "csi-cinder-controller-service", replicas: 1 };
  await workload("statefulsets", "StatefulSet", "csi-cinder-controllerplugin", one, { volumes });
  return {
    async setTrustee(id) {
      const text = `user-id=${id}\npassword=secret\n`;
      const body = { data: { "cloud-config": Buffer.from(text).toString("base64") } };
      for (const name of [secret, "os-trustee"])
        await client.patch(Secret, { namespace, name }, { type: "merge", body });
      await client.patch(ConfigMap, metadata, { type: "merge", body: { data: { "config.yaml": text } } });
    },
    async declared() {
      const { items: daemons } = await client.list(DaemonSet, { namespace, labelSelector: "driver=heat" });
      const { items: sets } = await client.list(StatefulSet, { namespace, labelSelector: "driver=heat" });
      return [...daemons, ...sets].map(({ kind, metadata, spec }) => {
        const { "deprecated.daemonset.template.generation": _, ...annotations } = metadata.annotations ?? {};
        return { kind, name: metadata.name, annotations, spec };
      });
    },
    async read() {
      const { items: pods } = await client.list(Pod, { namespace, labelSelector: "driver=heat" });
      const lists = [
        (await client.list(DaemonSet, { namespace })).items,
        (await client.list(StatefulSet, { namespace })).items,
        (await client.list(Secret, { namespace })).items,
        (await client.list(ConfigMap, { namespace })).items,
      ];
      const known =
        /^(openstack-cloud-controller-manager|csi-cinder-.*|os-trustee|cinder-csi-.*|magnum-auto-healer.*)$/;
      return {
        objects: lists
          .flatMap((items) => items.map(({ kind, metadata: { name } }) => `${kind} ${name}`))
          .filter((line) => known.test(line.split(" ")[1] ?? "")),
        pods: pods
          .map(({ metadata: { labels }, spec }) => `${labels?.["app"] ?? ""} on ${spec?.nodeName ?? "none"}`)
          .toSorted(),
      };
    },
  };
}
