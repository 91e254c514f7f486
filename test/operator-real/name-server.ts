/** A name server of an administrator, outside of the deployment: BIND in a pod, to which Designate gives its zones. */
import { REGISTRY, RELEASE } from "../../scripts/openstack-images/build.ts";
import { eventually } from "../support/processes.ts";
import { serviceAddress } from "./cloud.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

const NAME = "name-server";
/** Its container: no policy of the deployment is its pod's. */
export const NAME_SERVER = { pod: NAME, container: "named" } as const;
const KEY = `key "rndc-key" { algorithm hmac-sha256; secret "${Buffer.from("a key of the rig alone").toString("base64")}"; };\n`;
/** Designate's worker notifies it of changes from the address of its pod, not from that of the master. */
const CONFIGURATION = `${KEY}
options {
  directory "/var/cache/bind"; pid-file none; session-keyfile none;
  listen-on { any; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; allow-new-zones yes; allow-notify { any; };
};
controls { inet * port 953 allow { any; } keys { "rndc-key"; }; };
`;

/** The Secret with the pool of that one server, for `services[].secretConfiguration` of Designate. */
export const POOL = "name-servers";
/** The name of the pool's server in its zones. */
export const SERVER = "ns1.example.org.";

/** Starts it; where it responds. */
export async function startNameServer(rig: Rig): Promise<string> {
  const named = {
    name: NAME_SERVER.container,
    image: `${REGISTRY}/designate:${RELEASE}`,
    command: ["named", "-g", "-c", "/etc/rig/named.conf"],
    volumeMounts: [
      { name: "configuration", mountPath: "/etc/rig" },
      { name: "zones", mountPath: "/var/cache/bind" },
    ],
  };
  const volumes = [
    { name: "configuration", secret: { secretName: NAME } },
    { name: "zones", emptyDir: {} },
  ];
  rig.apply(secret(NAME, { "named.conf": CONFIGURATION }));
  const metadata = { name: NAME, namespace: "default" };
  rig.apply({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [named], volumes } });
  let address = "";
  await eventually(TIMEOUT, () => {
    const { status } = rig.get<{ status?: { phase?: string; podIP?: string } }>("pod", NAME);
    address = status?.podIP ?? "";
    return status?.phase === "Running" && address !== "";
  });
  return address;
}

/** The pool, once the deployment has the Service of the server that zones are transferred from. */
export const poolOf = (rig: Rig, server: string): object =>
  secret(POOL, {
    "rndc.key": KEY,
    "pools.yaml": JSON.stringify([
      {
        name: "default",
        description: "BIND",
        attributes: {},
        ns_records: [{ hostname: SERVER, priority: 1 }],
        nameservers: [{ host: server, port: 53 }],
        targets: [
          {
            type: "bind9",
            description: "BIND",
            masters: [{ host: serviceAddress(rig, "designate-mdns"), port: 5354 }],
            options: {
              host: server,
              port: 53,
              rndc_host: server,
              rndc_port: 953,
              rndc_key_file: "/etc/designate/designate.conf.d/rndc.key",
            },
          },
        ],
      },
    ]),
  });

/** Has a Job given that pool to Designate? */
export const hasPool = (rig: Rig): boolean =>
  rig
    .get<{ items: { spec: unknown; status?: { succeeded?: number } }[] }>(
      "jobs",
      "-l",
      "openstack.causeway.dev/component=designate-pools",
    )
    .items.some(({ spec, status }) => JSON.stringify(spec).includes(`"${POOL}"`) && (status?.succeeded ?? 0) > 0);

const secret = (name: string, stringData: Record<string, string>): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default" },
  stringData,
});

export interface Reply {
  /** "NOERROR", "REFUSED" and so on. */
  readonly code: string;
  readonly authoritative: boolean;
  /** Records of the answer as text, without their time to live. */
  readonly answer: readonly string[];
}

/** Asks a name server from inside the pod of the one outside of the deployment. */
export const resolve = (rig: Rig, server: string, name: string, type: string): Promise<Reply> =>
  outside(rig, RESOLVE, server, name, type);

/** All records of a zone, transferred from Designate's own server. */
export const transfer = (rig: Rig, zone: string): Promise<readonly string[]> =>
  outside(rig, TRANSFER, serviceAddress(rig, "designate-mdns"), zone);

async function outside<T>(rig: Rig, script: string, ...args: readonly string[]): Promise<T> {
  const { pod, container } = NAME_SERVER;
  return JSON.parse(await rig.inContainer(pod, container, "python3", "-c", script, ...args)) as T;
}

const RECORDS = `
import json, sys
import dns.flags, dns.message, dns.query, dns.rcode, dns.rdatatype
def text(rrsets): return sorted(f"{each.name} {dns.rdatatype.to_text(each.rdtype)} {record}" for each in rrsets for record in each)
`;
const RESOLVE = `${RECORDS}
server, name, kind = sys.argv[1:]
reply = dns.query.udp(dns.message.make_query(name, kind), server, timeout=10)
authoritative = bool(reply.flags & dns.flags.AA)
print(json.dumps({"code": dns.rcode.to_text(reply.rcode()), "authoritative": authoritative, "answer": text(reply.answer)}))
`;
const TRANSFER = `${RECORDS}
server, zone = sys.argv[1:]
messages = dns.query.xfr(server, zone, port=5354, relativize=False, lifetime=20)
print(json.dumps(text(rrset for message in messages for rrset in message.answer)))
`;
