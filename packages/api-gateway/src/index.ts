export { startApiGateway, type ApiGateway, type ApiGatewayOptions } from "./gateway/gateway.ts";
export { startApiProxy, type ApiProxy, type ApiProxyOptions } from "./proxy/proxy.ts";
export { fileRoutes } from "./routes/file.ts";
export { joinRoutes, type Route, type Routes } from "./routes/routes.ts";
export { serviceRoutes } from "./routes/services.ts";
