import { TLSSocket } from "node:tls";
import type { Cluster } from "../clusters/cluster.ts";
import { unauthorized } from "../server/status.ts";
import { bootstrapTokenUser } from "./bootstrap-tokens.ts";
import { certificateUser, type CertificateUsers } from "./client-certificates.ts";
import { verifyServiceAccountToken } from "./service-account-tokens.ts";
import { ANONYMOUS, authenticated, type User } from "./user.ts";

export interface Credentials {
  readonly socket: unknown;
  readonly authorization: string | undefined;
}

/**
 * Who asks: by client certificate, else by bearer token (service account or bootstrap), else anonymous.
 * Throws 401 when credentials were given and none of them is right.
 */
export async function authenticate(
  cluster: Cluster,
  { socket, authorization }: Credentials,
  known: CertificateUsers,
): Promise<User> {
  const certified = socket instanceof TLSSocket ? certificateUser(cluster, socket, known) : undefined;
  if (certified !== undefined && certified !== "nobody") return certified;
  if (!authorization) {
    if (certified === "nobody") throw unauthorized();
    return ANONYMOUS;
  }
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  if (!token) throw unauthorized();
  const user = await tokenUser(cluster, token);
  if (!user) throw unauthorized();
  return user;
}

/** Whom a bearer token stands for. */
export async function tokenUser(cluster: Cluster, token: string): Promise<User | undefined> {
  if (token.split(".").length === 3) return (await verifyServiceAccountToken(cluster, token))?.user;
  const user = bootstrapTokenUser(cluster, token);
  return user && authenticated(user);
}
