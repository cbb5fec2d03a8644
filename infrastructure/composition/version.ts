/** Version of the package; the OpenAPI and AsyncAPI documents name it. */
export const VERSION = '0.1.0';
