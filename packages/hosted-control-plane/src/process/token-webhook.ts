import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { ExternalAuthenticator } from "@causeway/apiserver";
import { createAuthority, issueCertificate, messageOf, silentLog, type Log } from "@causeway/foundation";
import { renderKubeconfig } from "@causeway/kubernetes";

const YEAR = 365 * 24 * 3600_000;
const LONGEST_BODY = 256 * 1024;
const SLOWEST = 30_000;

/** Who answers TokenReviews of one kube-apiserver. */
export interface TokenWebhook {
  /** With which kube-apiserver finds it and proves itself. */
  readonly kubeconfig: string;
  /** The next token is verified by this one; the one before is closed. */
  use(authenticator: ExternalAuthenticator): void;
  close(): Promise<void>;
}

/**
 * A webhook for tokens on loopback, by which a kube-apiserver asks an authenticator of this process. Both sides have
 * certificates of an authority that only they know: other programs of the machine cannot try tokens on it.
 */
export async function startTokenWebhook(
  port: number,
  authenticator: ExternalAuthenticator,
  log: Log = silentLog,
): Promise<TokenWebhook> {
  let current = authenticator;
  const authority = await createAuthority({ commonName: "token-webhook-ca", lifetime: 2 * YEAR });
  const local = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const issue = (commonName: string, usages: readonly ("client" | "server")[]) =>
    issueCertificate(authority, { commonName, ...local, usages, lifetime: 2 * YEAR });
  const [server, client] = [await issue("token-webhook", ["server"]), await issue("kube-apiserver", ["client"])];
  const listener = createServer(
    {
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => void answer(request, response, (token) => current.verify(token)),
  );
  listener.requestTimeout = SLOWEST;
  await listen(listener, port, log);
  return {
    kubeconfig: renderKubeconfig({
      server: `https://127.0.0.1:${port}/`,
      ca: authority.certificate,
      certificate: client.certificate,
      key: client.key,
      clusterName: "token-webhook",
      userName: "kube-apiserver",
    }),
    use(next) {
      current.close();
      current = next;
    },
    async close() {
      current.close();
      listener.closeAllConnections();
      await new Promise<void>((done) => listener.close(() => done()));
    },
  };
}

function listen(server: Server, port: number, log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      // What fails later fails one connection.
      server.on("tlsClientError", (_: Error, socket: TLSSocket) => socket.destroy());
      // So does a connection that cannot be accepted (no descriptor is left): kube-apiserver calls again.
      server.on("error", (error) =>
        log.warn("the webhook for tokens could not accept a connection", { port, error: messageOf(error) }),
      );
      resolve();
    });
  });
}

type Verify = (token: string) => ReturnType<ExternalAuthenticator["verify"]>;

/** A TokenReview (authentication.k8s.io/v1). */
async function answer(request: IncomingMessage, response: ServerResponse, verify: Verify): Promise<void> {
  try {
    const token = tokenOf(await bodyOf(request));
    const status = token === undefined ? { authenticated: false } : await statusOf(token, verify);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", metadata: {}, status };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(review));
  } catch {
    response.statusCode = 400;
    response.end();
  }
}

async function statusOf(token: string, verify: Verify): Promise<object> {
  try {
    const user = await verify(token);
    return user === undefined ? { authenticated: false } : { authenticated: true, user };
  } catch (error) {
    return { authenticated: false, error: messageOf(error) };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_BODY) throw new Error("the request is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tokenOf(body: string): string | undefined {
  const { spec } = JSON.parse(body) as { readonly spec?: { readonly token?: unknown } };
  return typeof spec?.token === "string" && spec.token !== "" ? spec.token : undefined;
}
