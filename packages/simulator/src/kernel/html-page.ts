import { ServiceError } from "./service-error.ts";

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Request Entity Too Large",
  415: "Unsupported Media Type",
};

/** What the web framework says of itself where a service gives only a detail. */
const explanations: Readonly<Record<number, string>> = {
  400: "The server could not comply with the request since it is either malformed or otherwise incorrect.",
  401:
    "This server could not verify that you are authorized to access the document you requested. Either you supplied the wrong " +
    "credentials (e.g., bad password), or your browser does not understand how to supply the credentials required.",
  403: "Access was denied to this resource.",
  404: "The resource could not be found.",
  409: "There was a conflict when trying to complete your request.",
};

/**
 * The page that the web framework (WebOb) of the real services gives for a refusal: an explanation, or its own and a
 * detail.
 */
export function htmlPage(
  code: number,
  words: { readonly explanation?: string; readonly detail?: string },
): ServiceError {
  const heading = `${code} ${titles[code] ?? ""}`;
  const explanation = escaped(words.explanation ?? explanations[code] ?? "");
  const page = `<html>\n <head>\n  <title>${heading}</title>\n </head>\n <body>\n  <h1>${heading}</h1>\n  ${explanation}<br /><br />\n${escaped(words.detail ?? "")}\n\n\n </body>\n</html>`;
  return new ServiceError(code, page, { "content-type": "text/html; charset=UTF-8" });
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** Such a page as a text, as WebOb gives it to who accepts no HTML. */
export function plainText(page: string): string {
  const heading = /<h1>(.*)<\/h1>/.exec(page)?.[1] ?? "";
  const body = /<\/h1>\n([^]*)<\/?body>/.exec(page)?.[1] ?? "";
  const text = body.replaceAll("<br />", "\n").replaceAll(/<[^>]*>/g, "");
  return `${heading}\n\n${unescaped(text.trim())}\n\n   `;
}

const unescaped = (text: string): string =>
  Object.entries(entities).reduce((plain, [sign, entity]) => plain.replaceAll(entity, sign), text);
