/** The OpenStackDeployment of the rig, and questions to its APIs. */
import { RELEASE, REGISTRY } from "../../scripts/openstack-images/build.ts";
import type { Rig } from "./rig.ts";

export const NAME = "cloud";
const ALL = [
  "glance",
  "placement",
  "barbican",
  "ovn",
  "neutron",
  "libvirt",
  "nova",
  "cinder",
  "heat",
  "octavia",
  "designate",
  "manila",
  "horizon",
] as const;
type Service = (typeof ALL)[number];
/** The machine has two processors, which pods share: what they ask for would not fit. */
const SMALL = { cpu: "10m" };

/** A deployment with databases, broker, cache, Keystone, and these services. */
export function deployment(services: readonly Service[], more: Record<string, unknown> = {}): object {
  const small = ["mariadb", "rabbitmq", "memcached", "keystone", ...services].map((name) => ({
    name,
    resources: SMALL,
  }));
  const off = ALL.filter((name) => !services.includes(name)).map((name) => ({ name, enabled: false }));
  return {
    apiVersion: "openstack.causeway.dev/v1alpha1",
    kind: "OpenStackDeployment",
    metadata: { name: NAME, namespace: "default" },
    spec: {
      release: RELEASE,
      region: "RegionOne",
      domain: "cloud.example.org",
      size: "Tiny",
      registry: REGISTRY,
      nodeGroups: [
        { name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Compute", "Network"] },
        { name: "compute", nodeSelector: { role: "compute" }, roles: ["Compute"] },
      ],
      storage: { className: "local" },
      services: [...small, ...off],
      ...more,
    },
  };
}

interface OvnStatus {
  readonly database: string;
  readonly rebuilding?: string;
  readonly rebuiltAt?: string;
}

interface Status {
  readonly phase?: string;
  readonly ready?: string;
  readonly release?: string;
  readonly upgrade?: { readonly step: string; readonly done: readonly string[] };
  readonly restore?: { readonly step: string; readonly completedAt?: string };
  readonly backups?: readonly { readonly run: string; readonly state: string; readonly bytes?: number }[];
  readonly rotation?: { readonly passwords?: number };
  readonly northbound?: OvnStatus;
  readonly southbound?: OvnStatus;
  readonly maintenance?: readonly { readonly node: string; readonly phase: string }[];
  readonly components?: readonly {
    readonly name: string;
    readonly state: string;
    readonly step?: string;
    readonly rootCause?: string;
  }[];
}

export const statusOf = (rig: Rig): Status => rig.get<{ status?: Status }>("openstackdeployment", NAME).status ?? {};

/** The address of a component's Service. */
export const serviceAddress = (rig: Rig, component: string): string =>
  rig.get<{ spec: { clusterIP: string } }>("service", `${NAME}-${component}`).spec.clusterIP;

export interface Answer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** How an API is called by a name of its certificate: where it is, and a file with whom to trust. */
export interface Trust {
  readonly address: string;
  readonly file: string;
}

interface RequestOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly seconds?: number;
  readonly trust?: Trust | undefined;
}

/** A request from inside the machine's network. */
export async function request(
  rig: Rig,
  method: string,
  url: string,
  { token, body, seconds = 60, trust }: RequestOptions = {},
): Promise<Answer> {
  const args = [
    "-s",
    "-i",
    "-m",
    String(seconds),
    "-X",
    method,
    "-H",
    "Content-Type: application/json",
    "-H",
    "Expect:",
  ];
  if (token !== undefined) args.push("-H", `X-Auth-Token: ${token}`);
  if (body !== undefined) args.push("-d", JSON.stringify(body));
  if (trust) args.push("--cacert", trust.file, "--connect-to", `::${trust.address}:`);
  const text = await rig.inNetwork("curl", ...args, url);
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), headers: head, body: rest.join("\r\n\r\n") };
}

/** A token of the administrator, with the password that the operator made. */
export async function adminToken(
  rig: Rig,
  { url = `http://${serviceAddress(rig, "keystone-api")}:5000`, trust }: { url?: string; trust?: Trust } = {},
): Promise<string> {
  const { data } = rig.get<{ data: Record<string, string> }>("secret", `${NAME}-credentials`);
  const password = Buffer.from(data["keystone.admin"] ?? "", "base64").toString();
  const domain = { id: "default" };
  const auth = {
    identity: { methods: ["password"], password: { user: { name: "admin", domain, password } } },
    scope: { project: { name: "admin", domain } },
  };
  const answer = await request(rig, "POST", `${url}/v3/auth/tokens`, { body: { auth }, trust });
  const [, token] = /^x-subject-token: (\S+)/im.exec(answer.headers) ?? [];
  if (answer.status !== 201 || token === undefined)
    throw new Error(`Keystone: ${answer.status} ${answer.body.slice(0, 500)}`);
  return token;
}

/** Names of a component's pods. */
export const podsOf = (rig: Rig, component: string): string[] =>
  rig
    .get<{ items: { metadata: { name: string } }[] }>("pods", "-l", `openstack.causeway.dev/component=${component}`)
    .items.map(({ metadata }) => metadata.name);

/** Restarts of every container of the deployment, by pod. */
export function restarts(rig: Rig): Record<string, number> {
  interface Pods {
    readonly items: readonly {
      readonly metadata: { readonly name: string };
      readonly status: {
        readonly containerStatuses?: readonly { readonly restartCount: number }[];
        readonly initContainerStatuses?: readonly { readonly restartCount: number }[];
      };
    }[];
  }
  const { items } = rig.get<Pods>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.name,
      [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].reduce(
        (sum, { restartCount }) => sum + restartCount,
        0,
      ),
    ]),
  );
}
