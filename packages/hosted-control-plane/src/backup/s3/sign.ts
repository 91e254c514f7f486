import { createHash, createHmac } from "node:crypto";

/** Of a user of the object storage. */
export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Of credentials that are lent for some time. */
  readonly sessionToken?: string;
}

/** A request before it is signed. */
export interface S3Request {
  readonly method: string;
  /** With the port, where it is not the scheme's own. */
  readonly host: string;
  /** Of the URL, not encoded: "/BUCKET/a b". */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** More headers, in lower case, that are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Who signs, for which region and when; servers refuse times that are too far from their own. */
export interface S3SignWith {
  readonly credentials: S3Credentials;
  readonly region: string;
  /** Milliseconds since epoch. */
  readonly now: number;
}

/** The path and query as they are sent, and all headers. */
export interface S3Signed {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a request to an object storage with signature version 4 of AWS, the body included.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signS3(request: S3Request, { credentials, region, now }: S3SignWith): S3Signed {
  const time = `${new Date(now).toISOString().replaceAll(/[-:]/g, "").slice(0, 15)}Z`;
  const date = time.slice(0, 8);
  const payload = sha256(request.body);
  const { accessKey, secretKey, sessionToken } = credentials;
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    "x-amz-content-sha256": payload,
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).toSorted();
  const path = request.path.split("/").map(encoded).join("/");
  const query = Object.entries(request.query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");
  const canonical = [
    request.method,
    path,
    query,
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    names.join(";"),
    payload,
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretKey}`);
  const signature = hmac(key, text).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return { target: query === "" ? path : `${path}?${query}`, headers: { ...headers, authorization } };
}

/** All but letters, digits and "-._~", as RFC 3986 has it; encodeURIComponent leaves out five more. */
function encoded(text: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, hex);
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
