import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Container } from "@causeway/kubernetes";
import type { Component, Exporter } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { hasFront } from "./context.ts";
import { hasProber, PROBER_PORT } from "./probes.ts";
import { containerSecurity } from "./security.ts";
import type { Mount } from "./types.ts";

/** The name of the port that metrics are read from, in every pod that has one. */
export const METRICS = "metrics";

/** The program that reports a component's metrics, where exporters are wanted. */
export const exporterOf = ({ monitoring }: OpenStackDeploymentSpec, { exporter }: Component) =>
  monitoring?.exporters === true ? exporter : undefined;

/** The port that reports metrics of a component; undefined: no namespace may read them, or it has none. */
export function metricsPort(spec: OpenStackDeploymentSpec, component: Component): number | undefined {
  if (!spec.monitoring) return undefined;
  const own = component.ports?.find(({ name }) => name === METRICS)?.port;
  return (
    own ??
    frontMetricsPort(spec, component) ??
    exporterOf(spec, component)?.port ??
    (hasProber(component) ? PROBER_PORT : undefined)
  );
}

const FRONT_METRICS = 9478;

/** The port on which the program in front of an API reports its metrics. */
export const frontMetricsPort = (spec: OpenStackDeploymentSpec, component: Component): number | undefined =>
  spec.monitoring && hasFront(spec, component) ? FRONT_METRICS : undefined;

/** How Prometheus finds a pod: by a label (a PodMonitor), or by the annotations that its examples read. */
export function metricsMarks(spec: OpenStackDeploymentSpec, component: Component) {
  const port = metricsPort(spec, component);
  if (port === undefined) return { labels: {}, annotations: {} };
  return {
    labels: { [labels.metrics]: "yes" },
    annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": String(port) },
  };
}

/** The exporter runs from before the process until after it. */
export function exporterContainers(
  spec: OpenStackDeploymentSpec,
  component: Component,
  { deployment, imageOf }: { readonly deployment: string; readonly imageOf: (name: string) => string },
): Container[] {
  const exporter = exporterOf(spec, component);
  if (!exporter) return [];
  const usesPassword = component.secrets?.includes("database.admin") === true;
  return [
    {
      name: "exporter",
      image: imageOf(exporter.image),
      restartPolicy: "Always",
      command: [...exporter.command],
      ports: [{ name: METRICS, containerPort: exporter.port, protocol: "TCP" }],
      resources: { requests: { cpu: "10m", memory: "24Mi" }, limits: { memory: "64Mi" } },
      env: [
        { name: "DEPLOYMENT", value: deployment },
        { name: "COMPONENT", value: component.name },
      ],
      // A socket of the process asks for its user, and for nothing else that it may do on its host.
      securityContext: containerSecurity(
        component.host ? { ...component, host: { reason: "", root: true } } : component,
      ),
      volumeMounts: [
        { name: "tmp", mountPath: "/tmp" },
        ...socketsOf(component, exporter),
        ...(usesPassword ? [{ name: "credentials", mountPath: "/run/credentials", readOnly: true }] : []),
        ...(exporter.command.some((word) => word.startsWith("/programs/"))
          ? [{ name: "programs", mountPath: "/programs", readOnly: true }]
          : []),
      ],
    },
  ];
}

/** The folder with the sockets, from the volume that the process itself has for it. */
function socketsOf(component: Component, { sockets }: Exporter): Mount[] {
  if (sockets === undefined) return [];
  const ofHost = component.host?.paths?.some(({ path }) => path === sockets) === true;
  return [{ name: `${ofHost ? "host-" : ""}${sockets.slice(1).replaceAll("/", "-")}`, mountPath: sockets }];
}
