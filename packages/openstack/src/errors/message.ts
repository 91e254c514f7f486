import { isRecord } from "@causeway/foundation";

/** What a service said about a failure, in whatever shape it says such things. */
export interface ServiceFault {
  readonly message: string;
  /** Neutron's exception name ("OverQuota"), Nova's fault name ("itemNotFound"), Octavia's fault code. */
  readonly type?: string;
}

/**
 * Finds the message in an error body. Known shapes: Nova and Cinder `{"badRequest": {"message"}}`, Neutron
 * `{"NeutronError": {"type", "message"}}`, Octavia `{"faultcode", "faultstring"}`, Keystone `{"error": {"message"}}`,
 * Placement `{"errors": [{"detail"}]}`, Barbican `{"code", "title", "description"}`, Glance's HTML page, plain text.
 */
export function readFault(body: unknown): ServiceFault {
  const { message, type } = faultIn(body);
  return { message: message.slice(0, LONGEST), ...(type === undefined ? {} : { type: type.slice(0, LONGEST_TYPE) }) };
}

/** Of a message, what is shown. */
const LONGEST = 1000;
const LONGEST_TYPE = 100;
const MOST_ERRORS = 20;

function faultIn(body: unknown): ServiceFault {
  if (typeof body === "string") return { message: plainText(body) };
  if (!isRecord(body)) return { message: "" };
  if (typeof body["faultstring"] === "string") {
    return { message: body["faultstring"], ...(typeof body["faultcode"] === "string" && { type: body["faultcode"] }) };
  }
  if (Array.isArray(body["errors"])) {
    const details = body["errors"]
      .slice(0, MOST_ERRORS)
      .map((e: unknown) => (isRecord(e) ? text(e["detail"] ?? e["title"]) : text(e)));
    return { message: details.join("; ") };
  }
  const { code, title, description } = body;
  if (typeof code === "number" && typeof title === "string" && typeof description === "string")
    return { message: text(description), type: title };
  for (const [name, value] of Object.entries(body)) {
    if (isRecord(value) && "message" in value) {
      return { message: text(value["message"]), type: typeof value["type"] === "string" ? value["type"] : name };
    }
    if (name === "NeutronError") return { message: text(value), type: name };
  }
  return { message: text(body["message"] ?? body["detail"] ?? body["error"]) };
}

/** Without tags and their like: Glance puts HTML even into JSON. */
function plainText(page: string): string {
  const body = /<body[^>]*>([\s\S]*?)<\/body>/i.exec(page)?.[1] ?? page;
  const plain = body
    .replace(/<h1[^>]*>[\s\S]*?<\/h1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#0?39;/g, "'")
    .replace(/&amp;/g, "&");
  return plain.replace(/\s+/g, " ").trim().slice(0, 1000);
}

function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? plainText(value) : JSON.stringify(value).slice(0, 1000);
}
