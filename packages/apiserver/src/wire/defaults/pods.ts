import { isRecord, record, records, text, type Json } from "../../json/json.ts";
import { fill, type Rules } from "./rule.ts";

/** What a container may ask for is what it is limited to, where it asks for nothing. */
function askForLimits(container: Json): void {
  const resources = record(container["resources"]);
  if (!isRecord(resources["limits"])) return;
  resources["requests"] = { ...resources["limits"], ...record(resources["requests"]) };
}

function openHostPorts(container: Json): void {
  for (const port of records(container["ports"])) port["hostPort"] ||= port["containerPort"];
}

/** "latest", also where no tag is given; "" when a digest says which one it is. */
function tagOf(image: string): string {
  const digest = image.includes("@");
  const tag = /:([^/:@]+)(@|$)/.exec(image)?.[1];
  return tag ?? (digest ? "" : "latest");
}

/** An invalid image name has no tag. */
const IMAGE =
  /^([A-Za-z0-9.-]+(:\d+)?\/)?[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:\w[\w.-]{0,127})?(@[A-Za-z][\w.+-]*:[0-9A-Fa-f]{32,})?$/;

/** "Always" for the tag latest, also if it is implied; "IfNotPresent" for other tags, digests and invalid names. */
export function pullPolicy(image: unknown): string {
  if (!IMAGE.test(text(image))) return "IfNotPresent";
  return tagOf(text(image)) === "latest" ? "Always" : "IfNotPresent";
}

function fillContainer(container: Json): void {
  container["imagePullPolicy"] ??= pullPolicy(container["image"]);
  container["terminationMessagePath"] ??= "/dev/termination-log";
  container["terminationMessagePolicy"] ??= "File";
}

/** The two names of one field; the newer one wins. */
function fillAccount(spec: Json): void {
  const account = text(spec["serviceAccountName"]) || text(spec["serviceAccount"]);
  if (account) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
}

const fillSpec = fill({
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
});

const MODE = fill({ defaultMode: 0o644 });
const TCP = fill({ protocol: "TCP" });

/** Defaults of pods and of what their specs consist of, which pod templates share. */
export const POD_DEFAULTS: Rules = {
  "core.Pod"(pod) {
    const spec = record(pod["spec"]);
    const containers = [...records(spec["containers"]), ...records(spec["initContainers"])];
    containers.forEach(askForLimits);
    if (spec["hostNetwork"] === true) containers.forEach(openHostPorts);
    if (!isRecord(pod["spec"])) return;
    spec["enableServiceLinks"] ??= true;
    // A pod's own; in templates it remains as it was given.
    if (Number(spec["terminationGracePeriodSeconds"] ?? 0) < 0) spec["terminationGracePeriodSeconds"] = 1;
  },
  "core.PodSpec"(spec) {
    fillSpec(spec);
    fillAccount(spec);
  },
  "core.Container": fillContainer,
  "core.EphemeralContainer": fillContainer,
  "core.ContainerPort": TCP,
  "core.Probe": fill({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  "core.GRPCAction": fill({ service: "" }),
  "core.HTTPGetAction": fill({ path: "/", scheme: "HTTP" }),
  "core.ObjectFieldSelector": fill({ apiVersion: "v1" }),
  "core.SecretVolumeSource": MODE,
  "core.ConfigMapVolumeSource": MODE,
  "core.DownwardAPIVolumeSource": MODE,
  "core.ProjectedVolumeSource": MODE,
  "core.ServiceAccountTokenProjection": fill({ expirationSeconds: 3600 }),
  "core.HostPathVolumeSource": fill({ type: "" }),
  "core.Volume"(volume) {
    if (Object.keys(volume).every((name) => name === "name")) volume["emptyDir"] = {};
    if (isRecord(volume["image"])) volume["image"]["pullPolicy"] ||= pullPolicy(volume["image"]["reference"]);
  },
};
