import { execFile } from "node:child_process";
import { CausewayError } from "@causeway/foundation";
import type { ClusterConfig, ExecConfig } from "../config/interface.ts";
import type { ExpiringCredentials } from "./credentials.ts";

/** Cloud plugins call out to identity services; a minute is long enough for all that are not stuck. */
const TIMEOUT = 60_000;

/**
 * Runs a credential plugin (client.authentication.k8s.io/v1, v1beta1): the request goes in the environment
 * variable KUBERNETES_EXEC_INFO, an ExecCredential comes back on standard output.
 */
export async function runExecPlugin(config: ClusterConfig, signal?: AbortSignal): Promise<ExpiringCredentials> {
  const exec = config.exec;
  if (!exec) return { value: {} };
  if (exec.interactiveMode === "Always") {
    throw failure(exec, "needs a terminal (interactiveMode: Always)", {
      hint: "Use a plugin that can run without a terminal, or a kubeconfig with a token or certificate.",
    });
  }
  const output = await run(exec, { KUBERNETES_EXEC_INFO: execInfo(exec, config) }, signal);
  return parseExecCredential(output, exec);
}

function execInfo(exec: ExecConfig, config: ClusterConfig): string {
  const cluster = exec.provideClusterInfo
    ? {
        server: config.server,
        ...(config.tlsServerName === undefined ? {} : { "tls-server-name": config.tlsServerName }),
        ...(config.insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
        ...(config.ca === undefined ? {} : { "certificate-authority-data": Buffer.from(config.ca).toString("base64") }),
      }
    : undefined;
  return JSON.stringify({
    apiVersion: exec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(cluster ? { cluster } : {}) },
  });
}

function run(exec: ExecConfig, extra: Record<string, string>, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...process.env, ...exec.env, ...extra },
      timeout: TIMEOUT,
      maxBuffer: 1024 * 1024,
      ...(signal ? { signal } : {}),
    };
    execFile(exec.command, [...exec.args], options, (error, stdout) => {
      if (!error) return resolve(stdout);
      if (signal?.aborted) return reject(signal.reason);
      // Neither output nor standard error is passed on: plugins print tokens there.
      const missing = error.code === "ENOENT";
      const why = missing
        ? "was not found"
        : String(error.code) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER"
          ? "printed more than 1 MiB"
          : error.killed
            ? "did not answer in a minute"
            : "failed";
      return reject(
        failure(exec, why, {
          hint:
            exec.installHint ??
            (missing ? `Install ${exec.command}, or put it on PATH.` : `Run ${exec.command} by hand to see why.`),
        }),
      );
    });
  });
}

/** Reads an ExecCredential. The answer is never quoted in an error. */
export function parseExecCredential(output: string, exec: ExecConfig): ExpiringCredentials {
  let parsed: unknown;
  try {
    parsed = JSON.parse(output);
  } catch {
    throw failure(exec, "did not print JSON", {});
  }
  const credential = parsed as { kind?: unknown; status?: Record<string, unknown> } | null;
  const status = credential?.status;
  if (credential?.kind !== "ExecCredential" || typeof status !== "object" || status === null) {
    throw failure(exec, "did not print an ExecCredential with a status", {});
  }
  const text = (name: string): string | undefined => (typeof status[name] === "string" ? status[name] : undefined);
  const token = text("token");
  const certificate = text("clientCertificateData");
  const key = text("clientKeyData");
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw failure(exec, "gave neither a token nor a client certificate with its key", {});
  }
  const expires = Date.parse(text("expirationTimestamp") ?? "");
  return {
    value: {
      ...(token === undefined ? {} : { token }),
      ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    },
    ...(Number.isNaN(expires) ? {} : { expires }),
  };
}

function failure(exec: ExecConfig, what: string, context: { hint?: string }): CausewayError {
  return new CausewayError("KUBERNETES_EXEC_PLUGIN", `the credential plugin ${exec.command} ${what}`, {
    hint: `Run ${exec.command} by hand to see what it prints.`,
    ...context,
  });
}
