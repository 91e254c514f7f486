/**
 * Cluster API's managers as programs of this machine: their own manifests, with webhooks at loopback instead of a
 * Service.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, goYamlTags, issueCertificate } from "@causeway/foundation";
import { parseAllDocuments } from "yaml";
import { freePort } from "../../support/free-ports.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import { launch, type RunningProgram } from "../run.ts";
import { infrastructure } from "./infrastructure.ts";

const HOUR = 3_600_000;
const PROVIDERS = ["core", "bootstrap", "control-plane"] as const;
/** What a cluster's own machinery brings, which these servers do without. */
const LEFT_OUT = new Set(["Deployment", "Certificate", "Issuer"]);

type Json = Record<string, unknown>;
/** A provider in addition to those of Cluster API's own module. */
export interface MoreProvider {
  /** The folder with its manager and its manifests, and what both are called: "capo" and "capo.yaml". */
  readonly programs: string;
  readonly name: string;
  /** Files of manifests in that folder that it needs. */
  readonly needs: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
}

export interface Managers {
  readonly running: readonly RunningProgram[];
  /** Manifests of the CRDs alone, for another server. */
  readonly definitions: readonly Json[];
}

interface Place {
  /** The folder with the managers and their manifests. */
  readonly programs: string;
  readonly kubeconfig: string;
  /** For certificates; the test's own. */
  readonly dir: string;
}

/** A provider whose manifests are applied; its manager is not started yet. */
export interface PreparedProvider {
  readonly definitions: readonly Json[];
  /** Starts the manager; resolves once its webhooks are served. */
  start(): Promise<RunningProgram>;
}

/** Providers of Cluster API's own module, from a folder with their managers and manifests. */
export function ownProviders(
  programs: string,
  names: readonly (typeof PROVIDERS)[number][] = PROVIDERS,
): MoreProvider[] {
  return names.map((name) => ({ programs, name, needs: [], flags: { "feature-gates": "ClusterTopology=true" } }));
}

/** Applies what the providers need; each manager can then be started, and started again. */
export async function prepareProviders(
  k: Kubectl,
  place: Omit<Place, "programs">,
  providers: readonly MoreProvider[],
): Promise<PreparedProvider[]> {
  const authority = await createAuthority({ commonName: "webhooks-authority", lifetime: HOUR });
  const { certificate, key } = await issueCertificate(authority, {
    commonName: "webhooks",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: HOUR,
  });
  const certificates = join(place.dir, "certificates");
  mkdirSync(certificates, { recursive: true });
  writeFileSync(join(certificates, "tls.crt"), certificate);
  writeFileSync(join(certificates, "tls.key"), key, { mode: 0o600 });
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  const prepared: PreparedProvider[] = [];
  for (const provider of providers) {
    const port = await freePort();
    const manifests = readManifests(provider).map((m) => pointed(m, `https://127.0.0.1:${port}`, caBundle));
    await apply(k, manifests);
    prepared.push({
      definitions: manifests.filter((m) => m["kind"] === "CustomResourceDefinition"),
      async start() {
        const running = start(provider, place, { port, certificates });
        await running.until(/Serving webhook server/, 300_000);
        return running;
      },
    });
  }
  return prepared;
}

export async function installManagers(k: Kubectl, place: Place, more: readonly MoreProvider[] = []): Promise<Managers> {
  await apply(k, infrastructure);
  const providers = await prepareProviders(k, place, [...ownProviders(place.programs), ...more]);
  await k.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  const running = await Promise.all(providers.map((one) => one.start()));
  return { running, definitions: [...infrastructure, ...providers.flatMap(({ definitions }) => definitions)] };
}

export async function apply(k: Kubectl, items: readonly Json[]): Promise<void> {
  await k.feed({ apiVersion: "v1", kind: "List", items }, "apply", "--server-side", "-f", "-");
}

/**
 * What clusterctl searches for before it moves anything: its own kind, and a word about each provider that is there.
 */
export async function installInventory(k: Kubectl, programs: string): Promise<void> {
  await apply(k, readManifests({ programs, name: "clusterctl", needs: [] }));
  await k.run("wait", "--for=condition=Established", "crd/providers.clusterctl.cluster.x-k8s.io");
  const types = { "cluster-api": "CoreProvider", "infrastructure-stub": "InfrastructureProvider" };
  const providers = Object.entries(types).map(([name, type]) => ({
    apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3",
    kind: "Provider",
    metadata: {
      name,
      namespace: "default",
      labels: { "clusterctl.cluster.x-k8s.io": "", "clusterctl.cluster.x-k8s.io/core": "inventory" },
    },
    providerName: name.replace("infrastructure-", ""),
    type,
    version: "v1.12.0",
  }));
  await apply(k, providers);
}

function readManifests({ programs, name, needs }: Pick<MoreProvider, "programs" | "name" | "needs">): Json[] {
  const texts = [...needs, name].map((file) => readFileSync(join(programs, `${file}.yaml`), "utf8"));
  const all = texts.flatMap((text) =>
    parseAllDocuments(text, { version: "1.1", customTags: goYamlTags }).map((d) => d.toJS() as Json),
  );
  return all.filter((m) => !LEFT_OUT.has(String(m["kind"])));
}

/** The manifest with its webhooks at `base`, and the label by which clusterctl knows what it may move. */
function pointed(manifest: Json, base: string, caBundle: string): Json {
  const at = (config: Json): Json => ({ url: `${base}${String((config["service"] as Json)["path"])}`, caBundle });
  const { kind } = manifest;
  if (kind === "CustomResourceDefinition") {
    const spec = structuredClone(manifest["spec"]) as Json;
    const webhook = (spec["conversion"] as { webhook?: Json } | undefined)?.webhook;
    if (webhook !== undefined) webhook["clientConfig"] = at(webhook["clientConfig"] as Json);
    const metadata = manifest["metadata"] as Json;
    const labels = { ...(metadata["labels"] as Json | undefined), "clusterctl.cluster.x-k8s.io": "" };
    return { ...manifest, metadata: { ...metadata, labels }, spec };
  }
  if (kind !== "MutatingWebhookConfiguration" && kind !== "ValidatingWebhookConfiguration") return manifest;
  const webhooks = (manifest["webhooks"] as Json[]).map((hook) => ({
    ...hook,
    clientConfig: at(hook["clientConfig"] as Json),
  }));
  return { ...manifest, webhooks };
}

function start(
  { programs, name, flags }: MoreProvider,
  place: Pick<Place, "kubeconfig">,
  { port, certificates }: { port: number; certificates: string },
): RunningProgram {
  const all = {
    kubeconfig: place.kubeconfig,
    "webhook-port": String(port),
    "webhook-cert-dir": certificates,
    "diagnostics-address": "0",
    "health-addr": "0",
    ...flags,
  };
  const args = Object.entries(all).map(([flag, value]) => `--${flag}=${value}`);
  return launch(join(programs, name), args, { env: { POD_NAMESPACE: "default" } });
}
