import { issueCertificate } from "@causeway/foundation";
import { createClient, type KubernetesClient } from "@causeway/kubernetes";
import type { Connection } from "./raw.ts";
import { rawClient } from "./raw.ts";
import type { Context, ContractCase, Identity, Raw, Target } from "./interface.ts";

const DAY = 86_400_000;

/** Runs cases against one server, each in a namespace of its own. */
export interface Runner {
  run(contractCase: ContractCase): Promise<void>;
  close(): void;
}

/** The kind that most cases about custom resources use is made first, with what `prepare` is given. */
export async function openRunner(target: Target, prepare: (api: Raw) => Promise<void>): Promise<Runner> {
  const api = rawClient(await connectionOf(target, { user: "contract-admin", groups: ["system:masters"] }));
  await prepare(api);
  let count = 0;
  return {
    async run(contractCase) {
      count += 1;
      const serial = String(count);
      const namespace = `case-${serial}`;
      await api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      const opened: { close(): unknown }[] = [];
      const context: Context = {
        server: target.name,
        target,
        issuer: target.issuer,
        api,
        namespace,
        core: (plural, name) => pathOf("/api/v1", namespace, plural, name),
        apis: (groupVersion, plural, name) => pathOf(`/apis/${groupVersion}`, namespace, plural, name),
        async as(identity) {
          const made = rawClient(await connectionOf(target, identity));
          opened.push(made);
          return made;
        },
        async client(identity = { user: "contract-client", groups: ["system:masters"] }) {
          const made = await clientOf(target, identity);
          opened.push(made);
          return made;
        },
        unique: (prefix) => `${prefix}-${serial}`,
      };
      try {
        await contractCase.run(context);
      } finally {
        await Promise.all(opened.map((o) => o.close()));
      }
    },
    close: () => api.close(),
  };
}

function pathOf(base: string, namespace: string, plural: string, name?: string): string {
  return `${base}/namespaces/${namespace}/${plural}${name === undefined ? "" : `/${name}`}`;
}

async function connectionOf(target: Target, identity: Identity): Promise<Connection> {
  const { url, ca } = target;
  if (identity.anonymous) return { url, ca };
  if (identity.token !== undefined) return { url, ca, token: identity.token };
  const { certificate, key } = await issueCertificate(target.authority, {
    commonName: identity.user ?? "someone",
    organizations: identity.groups ?? [],
    usages: ["client"],
    lifetime: DAY,
  });
  return { url, ca, certificate, key };
}

async function clientOf(target: Target, identity: Identity): Promise<KubernetesClient> {
  const { url, ...rest } = await connectionOf(target, identity);
  return createClient({ server: url, ...rest });
}
