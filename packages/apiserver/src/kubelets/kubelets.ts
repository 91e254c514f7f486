import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import {
  CausewayError,
  issueCertificate,
  messageOf,
  parseCidr,
  type Cidr,
  type Clock,
  type KeyPair,
} from "@causeway/foundation";
import type { KubeletOptions, Kubelets } from "../contract/kubelets.ts";
import { apiError, tooManyRequests } from "../errors/status.ts";
import { dial, type Way } from "./dial.ts";

const YEAR = 365 * 86_400_000;
const RENEWED = 30 * 86_400_000;
const CONNECTIONS = 200;

/** Kubelets of a cluster; `authority` signs the API server's client certificate. @throws APISERVER_CIDR_INVALID */
export function openKubelets(
  options: KubeletOptions,
  { authority, clock }: { authority: () => KeyPair; clock: Clock },
): Kubelets {
  const way: Way = { rules: { allow: networksOf(options), deny: [], names: [] }, tunnel: options.tunnel };
  const most = options.connections ?? CONNECTIONS;
  const open = new Set<TLSSocket>();
  let dials = 0;
  let client: { readonly pair: Promise<KeyPair>; readonly until: number; readonly root: string } | undefined;
  const certificate = (): Promise<KeyPair> => {
    const now = clock.now();
    const root = authority();
    if (client && now < client.until && client.root === root.certificate) return client.pair;
    const subject = { commonName: "kube-apiserver-kubelet-client", organizations: ["system:masters"] };
    const pair = issueCertificate(root, { ...subject, usages: ["client"], lifetime: YEAR, now });
    client = { pair, until: now + YEAR - RENEWED, root: root.certificate };
    return pair;
  };
  return {
    async connect(host, port, signal) {
      if (open.size + dials >= most) throw tooManyRequests();
      dials++;
      try {
        const { certificate: cert, key } = await certificate();
        const socket = await dial(way, { host, port }, signal);
        const secured = await secure({ socket, host, cert, key, ca: options.authority }, signal);
        open.add(secured);
        secured.once("close", () => open.delete(secured));
        return secured;
      } catch (error) {
        throw apiError(503, "ServiceUnavailable", `error dialing backend: ${messageOf(error)}`);
      } finally {
        dials--;
      }
    },
    dial: (target, signal) => dial(way, target, signal),
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Plain {
  readonly socket: Socket;
  readonly host: string;
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

function secure({ socket, host, cert, key, ca }: Plain, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const verified = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const secured = connectTls({ socket, host, cert, key, ...verified, ALPNProtocols: ["http/1.1"] });
    const fail = (error: Error): void => {
      secured.destroy();
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(new Error("the client is gone"));
    signal.addEventListener("abort", onAbort, { once: true });
    secured.setTimeout(10_000, () => fail(new Error("TLS handshake timeout")));
    secured.once("error", fail);
    secured.once("close", () => fail(new Error("the connection was closed during the TLS handshake")));
    secured.once("secureConnect", () => {
      signal.removeEventListener("abort", onAbort);
      secured.setTimeout(0).removeAllListeners("timeout").removeAllListeners("close").off("error", fail);
      secured.on("error", () => secured.destroy());
      resolve(secured);
    });
  });
}

function networksOf({ networks }: KubeletOptions): Cidr[] {
  return networks.map((text) => {
    const cidr = parseCidr(text);
    if (cidr) return cidr;
    throw new CausewayError("APISERVER_CIDR_INVALID", `${text} cannot be a network of nodes`, {
      hint: "Specify CIDRs, such as 10.6.0.0/16.",
    });
  });
}
