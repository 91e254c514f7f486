import { tlsPortOf } from "../config/index.ts";
import type { Component, Probe } from "../model/component.ts";

/** Port of the prober, on the pod's own address. */
export const PROBER_PORT = 8089;
/** The resident program, in programs/, and the one that a command of a probe runs. */
const PROBER = "prober.py";
const PROBE = "probe.py";

interface ProbeTimes {
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

/** A start may take ten minutes: databases recover, caches fill. */
const startup: ProbeTimes = { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 120 };
const readiness: ProbeTimes = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
/** A process is restarted only after it has not responded for three minutes. */
const liveness: ProbeTimes = { periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 6 };
/** A worker that has not responded for so long does not end by itself either: it is not waited for as at a rollout. */
const HUNG_SECONDS = 30;

/** While the database is away, the program in front of an API responds to "ready" and "live" itself. */
const QUESTION_HEADER = "X-Causeway-Question";

type Question = "startup" | "ready" | "live";

/** Does a resident prober ask for the kubelet? Questions over AMQP need one; the others are probed directly. */
export const hasProber = ({ probe }: Component): boolean => probe?.ask === "rpc";

/** The program that asks for the kubelet; undefined: the component's own programs do, or nothing. */
export const askingProgram = (component: Component): string | undefined => {
  if (hasProber(component)) return PROBER;
  const { probe } = component;
  return probe?.ask === "command" && probe.command.includes(`/programs/${PROBE}`) ? PROBE : undefined;
};

/** What of a deployment changes how its processes are probed. */
export interface ProbedThrough {
  /** Its APIs are served over TLS. */
  readonly hasTls?: boolean;
  /** The program in front of uWSGI reads the component's requests. */
  readonly hasFront?: boolean;
}

/** The three probes of a container. */
export function probesOf(component: Component, through: ProbedThrough = {}): Record<string, unknown> {
  const { probe } = component;
  if (!probe) return {};
  const of = (question: Question, timing: ProbeTimes) => ({
    ...handler(component, probe, { question, seconds: timing.timeoutSeconds, ...through }),
    ...timing,
  });
  return {
    startupProbe: of("startup", startup),
    readinessProbe: of("ready", readiness),
    livenessProbe: {
      ...of("live", liveness),
      ...(hasProber(component) ? { terminationGracePeriodSeconds: HUNG_SECONDS } : {}),
    },
  };
}

/**
 * A command that ends by itself before the kubelet's time is over, with all that it started. The runtime ends the first
 * process alone and then waits for the others' output: a question to a process that hangs would never count as failed.
 */
const bounded = (seconds: number, command: readonly string[]) => ({
  exec: { command: ["timeout", "--signal=KILL", String(seconds - 1), ...command] },
});

function handler(
  component: Component,
  probe: Probe,
  { question, seconds, hasTls, hasFront }: ProbedThrough & { readonly question: Question; readonly seconds: number },
): Record<string, unknown> {
  const port = (name: string) => component.ports?.find((each) => each.name === name)?.port ?? 0;
  const isTls = (name: string) => hasTls === true && tlsPortOf(component)?.name === name;
  switch (probe.ask) {
    case "http": {
      const headers = [
        ...(hasFront ? [{ name: QUESTION_HEADER, value: question }] : []),
        ...(probe.host === undefined ? [] : [{ name: "Host", value: probe.host }]),
      ];
      // The kubelet checks no certificate: it asks by the pod's address, which no certificate has.
      return {
        httpGet: {
          path: probe.path,
          port: port(probe.port),
          scheme: isTls(probe.port) ? "HTTPS" : "HTTP",
          ...(headers.length > 0 ? { httpHeaders: headers } : {}),
        },
      };
    }
    case "tcp":
      return { tcpSocket: { port: port(probe.port) } };
    case "rpc":
      return { httpGet: { path: `/${question}`, port: PROBER_PORT, scheme: "HTTP" } };
    case "unixctl": {
      const ask = `ovs-appctl -t ${probe.socket} ${probe.command}`;
      // Alive is a process that responds, whatever it is connected to, and whatever it says where nothing is expected.
      const isResponse = question === "live" || probe.expect === undefined;
      const script = isResponse ? `${ask} >/dev/null` : `${ask} | grep -qE '${probe.expect}'`;
      return bounded(seconds, ["/bin/sh", "-c", script]);
    }
    case "command":
      return bounded(seconds, question === "live" ? (probe.alive ?? probe.command) : probe.command);
  }
}
