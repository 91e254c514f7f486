/**
 * The members of an etcd that a migration joined, by the JSON gateway; no data. For hosted control planes that have no
 * etcd.
 */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { HostedControlPlane } from "@causeway/api";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import {
  Secret,
  type KubernetesClient,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
} from "@causeway/kubernetes";

const PEER = "https://127.0.0.1:2380";

export interface PlayedEtcd {
  /** The management cluster, where the hosted control plane reports this etcd. */
  readonly management: KubernetesClient;
  readonly members: () => readonly string[];
  close(): void;
}

export async function playEtcd(
  client: KubernetesClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  masters: number,
): Promise<PlayedEtcd> {
  const lifetime = 86_400_000;
  const authority = await createAuthority({ commonName: "etcd-authority", lifetime });
  const ipAddresses = ["127.0.0.1"];
  const pair = await issueCertificate(authority, {
    commonName: "etcd",
    ipAddresses,
    usages: ["client", "server"],
    lifetime,
  });
  let members = [
    { ID: "9", name: "hosted", peerURLs: [PEER] },
    ...Array.from({ length: masters }, (_, index) => ({
      ID: String(index + 1),
      name: `m${index}`,
      peerURLs: [`https://10.0.0.${index}:2380`],
    })),
  ];
  const server = createServer(
    { key: pair.key, cert: pair.certificate, ca: authority.certificate },
    (request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
      request.on("end", () => {
        const { ID } = JSON.parse(text) as { ID?: string };
        if (request.url === "/v3/cluster/member/remove") members = members.filter((one) => one.ID !== ID);
        response.end(JSON.stringify({ members }));
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const clientURL = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encoded = (value: string): string => Buffer.from(value, "utf8").toString("base64");
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: `${name}-etcd` },
    data: {
      "ca.crt": encoded(authority.certificate),
      "client.crt": encoded(pair.certificate),
      "client.key": encoded(pair.key),
    },
  };
  const find = async (type: ResourceType<KubeObject>, key: ObjectKey, options?: object) => {
    if (type.kind === Secret.kind && key.name === `${name}-etcd`) return secret;
    const found = await client.find(type, key, options);
    if (type.kind !== HostedControlPlane.kind || !found) return found;
    const { status } = found as unknown as HostedControlPlane;
    return { ...found, status: { ...status, datastore: { peerURL: PEER, clientURL, stage: "Serve" } } };
  };
  return {
    // Methods remain bound to the client itself.
    management: new Proxy(client, {
      get: (target, key) => {
        if (key === "find") return find;
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    }),
    members: () => members.map((one) => one.name),
    close: () => void server.close(),
  };
}
