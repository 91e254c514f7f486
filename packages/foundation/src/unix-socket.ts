import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { existsSync, lstatSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { messageOf } from "./errors.ts";

/** Bytes of a Unix socket's path: sun_path of unix(7) has 108 with the final zero byte. */
const LONGEST = 107;

/** Whether the kernel accepts a path of this length for a Unix socket. */
export function fitsUnixSocket(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST;
}

/**
 * Removes the socket that a killed process left, so that the path can be listened on. Returns why the path cannot be
 * used: another process serves it, or the file is not a socket; such a file is kept.
 *
 * @example
 * const why = await removeStaleSocket("/csi/csi.sock");
 * if (why !== undefined) throw new Error(`cannot listen: ${why}`);
 */
export async function removeStaleSocket(path: string): Promise<string | undefined> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isSocket()) return "it is not a socket";
  if (await isServed(path)) return "another process serves it";
  unlinkSync(path);
  return undefined;
}

/** Whether a process accepts connections at the socket. */
export function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Why a Unix socket could not be listened on. */
export interface SocketFailure {
  /** Another process has the path; else its folder or the path itself cannot be used. */
  readonly isTaken: boolean;
  readonly why: string;
}

const FOLDER: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "is not a folder",
  EACCES: "is not writable for this user",
  EPERM: "is not writable for this user",
  EROFS: "is on a file system that is read-only",
};

/** What the operating system's error says of the path of a Unix socket. */
export function socketFailure(path: string, error: unknown): SocketFailure {
  const given = error instanceof Error && "code" in error ? String(error.code) : "";
  if (given === "EADDRINUSE") return { isTaken: true, why: "another process serves it" };
  const folder = dirname(path);
  // Node reports a folder that is not there as EACCES.
  const code = given === "EACCES" && !existsSync(folder) ? "ENOENT" : given;
  const why = FOLDER[code] === undefined ? messageOf(error) : `the folder ${folder} ${FOLDER[code]}`;
  return { isTaken: false, why };
}

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/**
 * A handler for which every request is to "localhost". Clients of a Unix socket name any host: kubelet and other
 * programs in Go send the percent-encoded path of the socket, which no URL can have as its host, and a handler that
 * makes a URL of it throws.
 */
export function asLocalhost(handler: Handler): Handler {
  return (request, response) => {
    request.headers[":authority"] = "localhost";
    handler(request, response);
  };
}
