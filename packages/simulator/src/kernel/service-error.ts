/** An error response, thrown from anywhere below a route; status, body and headers are sent as they are. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
