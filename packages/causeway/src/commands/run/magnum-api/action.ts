import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  createMetrics,
  InputError,
  messageOf,
  parseCidr,
  readTextFile,
  splitCertificates,
  systemClock,
} from "@causeway/foundation";
import { createClient, createInformers, inClusterConfig, loadKubeconfig } from "@causeway/kubernetes";
import {
  auditFile,
  auditUrl,
  readPolicyFile,
  startMagnum,
  type Magnum,
  type TrusteeOptions,
} from "@causeway/magnum-api";
import { chosenCloud } from "../../../composition/chosen.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import type { MagnumApiFlags } from "./command.ts";

/**
 * Serves the API until the signal aborts.
 * @throws MAGNUM_FLAG_INVALID, MAGNUM_CERTIFICATE, MAGNUM_PORT, MAGNUM_POLICY_INVALID, METRICS_ADDRESS_INVALID,
 *   KUBECONFIG_…
 */
export async function magnumApi(flags: MagnumApiFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const metrics = createMetrics();
  const { kubeconfig, policyFile, rate } = flags;
  const authUrl = keystoneUrlOf(flags);
  const ca = keystoneAuthorityOf(flags);
  const cluster = kubeconfig === undefined ? inClusterConfig() : loadKubeconfig({ path: kubeconfig });
  const client = createClient(cluster, { userAgent: "causeway-magnum-api", clock: systemClock, metrics });
  const informers = createInformers(client, { clock: systemClock, log });
  let magnum: Magnum | undefined;
  const health = async () => {
    const unread = magnum?.unread();
    if (unread?.length === 0) return "ok";
    return `the management cluster is being read${unread === undefined ? "" : `: ${unread.join(", ")}`}`;
  };
  const served = await serveMetrics(flags.metricsAddress, { metrics, log, health });
  try {
    magnum = await startMagnum({
      informers,
      keystone: { name: "keystone", authUrl, ...(ca === undefined ? {} : { tls: { ca } }) },
      certificateAuthority: ca,
      trustees: trusteesOf(flags),
      credentialRoles: rolesOf(flags),
      region: flags.region,
      ...addressOf(flags.listen),
      certificateFiles: certificateFilesOf(flags),
      publicUrl: flags.publicUrl?.replace(/\/+$/, ""),
      ...(policyFile === undefined ? {} : { policy: readPolicyFile(policyFile) }),
      audit: auditOf(flags),
      managementCidrs: cidrsOf(flags),
      controlPlaneRuntime: flags.controlPlaneRuntime,
      podNetwork: flags.podNetwork,
      csiImage: flags.csiImage,
      defaultQuota: flags.defaultQuota,
      maxTemplates: flags.maxTemplates,
      maxNodes: flags.maxNodes,
      defaultVersion: flags.kubernetesVersion,
      probeKubelets: flags.probeKubelets,
      rate: { perSecond: rate, burst: rate * 4 },
      tokenRecheck: flags.tokenRecheck * 1000,
      election: { namespace: flags.leaderElectionNamespace, identity: `${hostname()}_${randomUUID()}` },
      metrics,
      clock: systemClock,
      log,
    });
    log.info("the Magnum API is served", { port: magnum.port });
    await Promise.all([informers.run(signal), magnum.run(signal)]);
  } finally {
    await served?.close();
    await client.close();
  }
}

function rolesOf({ trusteeRoles }: MagnumApiFlags): readonly string[] {
  const roles = trusteeRoles.split(",").map((each) => each.trim());
  if (roles.includes("")) throw invalidFlag(`--trustee-roles "${trusteeRoles}" is not a list of roles such as member`);
  return roles;
}

function trusteesOf(flags: MagnumApiFlags): TrusteeOptions | undefined {
  const { trusteeCloud, trusteeDomain } = flags;
  if (trusteeCloud === undefined && trusteeDomain === undefined) return undefined;
  if (trusteeCloud === undefined || trusteeDomain === undefined)
    throw invalidFlag("--trustee-cloud and --trustee-domain belong together");
  return { account: chosenCloud({ osCloud: trusteeCloud }), domain: trusteeDomain, roles: rolesOf(flags) };
}

function invalidFlag(message: string): InputError {
  return new InputError("MAGNUM_FLAG_INVALID", message, { hint: "See `causeway run magnum-api --help`." });
}

/** The message has no part of it: it may have a password. */
function keystoneUrlOf({ keystoneUrl }: MagnumApiFlags): string {
  const url = URL.parse(keystoneUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalidFlag("--keystone-url is not the URL of Keystone: https://HOST/v3, or http");
  if (url.username !== "" || url.password !== "")
    throw invalidFlag("--keystone-url has a name or password in it: users bring their own tokens");
  return keystoneUrl;
}

function keystoneAuthorityOf({ keystoneCaFile }: MagnumApiFlags): string | undefined {
  if (keystoneCaFile === undefined) return undefined;
  let text = "";
  try {
    text = readTextFile(keystoneCaFile);
  } catch (cause) {
    throw invalidFlag(`--keystone-ca-file ${keystoneCaFile} cannot be read: ${messageOf(cause)}`);
  }
  if (splitCertificates(text).length === 0)
    throw invalidFlag(`--keystone-ca-file ${keystoneCaFile} has no block BEGIN CERTIFICATE`);
  return text;
}

function addressOf(listen: string): { readonly host: string; readonly port: number } {
  const [, host = "", port = ""] = /^\[?([0-9A-Za-z.:-]+?)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (host === "" || Number(port) > 65_535)
    throw invalidFlag(`--listen ${listen} is not an address with a port, such as 0.0.0.0:9511`);
  return { host, port: Number(port) };
}

function cidrsOf({ managementCidrs }: MagnumApiFlags): readonly string[] | undefined {
  if (managementCidrs === undefined) return undefined;
  const all = managementCidrs.split(",").map((each) => each.trim());
  const wrong = all.find((each) => parseCidr(each) === undefined);
  if (wrong !== undefined) throw invalidFlag(`--management-cidrs: "${wrong}" is not a network such as 192.0.2.0/24`);
  return all;
}

function auditOf({ auditFile: file, auditUrl: url }: MagnumApiFlags) {
  if (file !== undefined && url !== undefined)
    throw invalidFlag("--audit-file and --audit-url cannot be used together");
  if (url !== undefined && !/^https?:\/\/[^/]/.test(url))
    throw invalidFlag(`--audit-url ${url} is not a URL such as https://audit.example.org/events`);
  if (file !== undefined) return auditFile(file);
  return url === undefined ? undefined : auditUrl(url);
}

function certificateFilesOf({ tlsCertFile, tlsPrivateKeyFile }: MagnumApiFlags) {
  if (tlsCertFile === undefined && tlsPrivateKeyFile === undefined) return undefined;
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined)
    throw invalidFlag("--tls-cert-file and --tls-private-key-file belong together");
  return { certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile };
}
