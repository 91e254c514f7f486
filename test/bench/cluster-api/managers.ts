import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { ownProviders, prepareProviders } from "../../programs/cluster-api/install.ts";
import type { Kubectl } from "../../programs/kubectl/kubectl.ts";
import { launch, type RunningProgram } from "../../programs/run.ts";
import { freePorts } from "../../support/free-ports.ts";
import { CAUSEWAY, type Side } from "../load-balancer/controllers.ts";

export interface ManagerPlace {
  /** Cluster-wide. */
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  readonly dir: string;
}

/**
 * Where upstream's programs are, and how often CAPO reads everything again ("60s"); undefined: its default of ten
 * minutes.
 */
export interface UpstreamPlace {
  readonly clusterApi: string;
  readonly capo: string;
  readonly syncPeriod: string | undefined;
}

/**
 * Applies the CRDs of one side; returns how its managers start: Cluster API's core and the OpenStack provider, ours in
 * one process, upstream's in one each.
 */
export function prepareManagers(
  side: Side,
  place: ManagerPlace,
  upstream: UpstreamPlace | undefined,
): Promise<() => Promise<readonly RunningProgram[]>> {
  if (side === "ours") return prepareOurs(place);
  if (upstream === undefined) throw new Error("upstream's programs are not built");
  return prepareUpstream(place, upstream);
}

/**
 * The first start applies the CRDs, as upstream's are applied before; each uses the ports and the certificate that
 * conversion webhooks in the CRDs name.
 */
async function prepareOurs({ kubeconfig, dir }: ManagerPlace): Promise<() => Promise<readonly RunningProgram[]>> {
  const [core = 0, provider = 0] = await freePorts(2);
  const names = { commonName: "webhook", ipAddresses: ["127.0.0.1"], lifetime: 86_400_000 };
  const authority = await createAuthority({ commonName: "webhook-ca", lifetime: names.lifetime });
  const { certificate, key } = await issueCertificate(authority, { ...names, usages: ["server"] });
  writeFileSync(join(dir, "tls.crt"), certificate);
  writeFileSync(join(dir, "tls.key"), key, { mode: 0o600 });
  let common = [`--kubeconfig=${kubeconfig}`, `--webhook-cert-dir=${dir}`, "--log-level=info", "--install-crds"];
  return async () => {
    const ours = [
      "cluster-api",
      ...common,
      "--providers=core",
      `--webhook-port=${core}`,
      "--bind-address=127.0.0.1",
      "--diagnostics-port=0",
      "--leader-elect=false",
    ];
    const openStack = [
      "cluster-api-openstack",
      ...common,
      `--webhook-port=${provider}`,
      "--health-addr=0",
      "--diagnostics-address=0",
    ];
    common = common.filter((flag) => flag !== "--install-crds");
    const both = launch(CAUSEWAY, ["run", "several", ours.join(" "), openStack.join(" ")]);
    await both.until(/OpenStackMachine/, 60_000);
    return [both];
  };
}

async function prepareUpstream(
  { kubectl, kubeconfig, dir }: ManagerPlace,
  { clusterApi, capo, syncPeriod }: UpstreamPlace,
): Promise<() => Promise<readonly RunningProgram[]>> {
  const flags = syncPeriod === undefined ? {} : { "sync-period": syncPeriod };
  const providers = await prepareProviders(kubectl, { kubeconfig, dir }, [
    ...ownProviders(clusterApi, ["core"]),
    { programs: capo, name: "capo", needs: ["orc"], flags },
  ]);
  await kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  return () => Promise.all(providers.map((one) => one.start()));
}
