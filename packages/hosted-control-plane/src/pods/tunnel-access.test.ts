import { ConfigMap, Secret, type Informer, type KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { tunnelAccess } from "./tunnel-access.ts";

const settings = { url: "https://tunnel:8090", certificateAuthority: "CERTIFICATE", namespace: "tunnels" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const data = { "tunnel-client.crt": base64("certificate"), "tunnel-client.key": base64("key") };

/** An informer of one type that has this object under one key, and whose lists are not read. */
function informerOf(type: Informer<KubeObject>["type"], key: string, object: object): Informer<KubeObject> {
  return {
    type,
    get: ({ namespace, name }: { namespace: string; name: string }) =>
      `${namespace}/${name}` === key ? object : undefined,
    list: () => expect.fail("the objects of all tenants are listed"),
  } as unknown as Informer<KubeObject>;
}
const objects = [
  informerOf(ConfigMap as Informer<KubeObject>["type"], "one/kube-apiserver", { data: {} }),
  informerOf(Secret as Informer<KubeObject>["type"], "one/kube-apiserver", { data }),
];

test("the tunnel's client certificate is read from its Secret alone, without a list of all tenants' objects", () => {
  const client = { certificate: "certificate", key: "key" };
  const { url, certificateAuthority } = settings;
  expect(tunnelAccess(settings, { objects }, "one")).toEqual({ url, certificateAuthority, client });
  expect(tunnelAccess(settings, { objects }, "two")).toBeUndefined();
});
