/** A refusal as Magnum's clients read it. */
export class MagnumError extends Error {
  override readonly name = "MagnumError";
  readonly status: number;
  /** "client" or "server" for what a resource refuses, "" for what routing refuses. */
  readonly code: string;
  /** Replaces the whole entry of `errors`. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string,
    more: { code?: string; entry?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.status = status;
    this.code = more.code ?? (status < 500 ? "client" : "server");
    this.entry = more.entry;
    this.headers = more.headers ?? {};
  }
}

/** 400, as Magnum's InvalidParameterValue. */
export const invalid = (detail: string) => new MagnumError(400, detail);
/** 403: the policy or a quota refuses the request. */
export const forbidden = (detail = "Not authorized.") => new MagnumError(403, detail);
/** 409: the state of an object does not allow the request. */
export const conflict = (detail: string) => new MagnumError(409, detail);
/** 404: there is none, or the caller does not see it. */
export const notFound = (what: string, id: string) => new MagnumError(404, `${what} ${id} could not be found.`);
/** What routing refuses: its entry has no code, and the name of the status as its title. */
export const unrouted = (status: number, title: string, detail = "", headers: Record<string, string> = {}) =>
  new MagnumError(status, detail, {
    headers,
    entry: { request_id: "", code: "", status, title, detail, links: [] },
  });

/**
 * The body of an error, with one entry. Its title is the first sentence of the detail: up to a full stop that a space
 * or the end follows, since versions and addresses have others (upstream cuts those, too).
 */
export function errorBody(error: MagnumError): Readonly<Record<string, unknown>> {
  const { status, code, message } = error;
  const [title = ""] = message.split(/\.(?=\s|$)/, 1);
  const entry = error.entry ?? { request_id: "", code, status, title, detail: message, links: [] };
  return { errors: [entry] };
}
