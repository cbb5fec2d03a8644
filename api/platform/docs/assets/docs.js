/* The reference page: fetches the document with the entered credential and shows it with Swagger UI. Stores nothing. */
(() => {
  'use strict';
  const CONTENT = [{ title: 'Content API', url: 'api/v1/openapi.json', callable: true }];
  const ADMIN = [
    { title: 'Content API', url: 'api/admin/openapi/public.json', callable: false },
    { title: 'Admin API', url: 'api/admin/openapi/admin.json', callable: true },
  ];
  const BEARER = { title: 'Bearer token', headers: (value) => ({ Authorization: `Bearer ${value}` }) };
  const KEY = { title: 'API key', headers: (value) => ({ 'X-API-Key': value }) };
  const COOKIE = { title: 'Session of the console', headers: () => ({}) };

  const isAdmin = document.documentElement.dataset.api === 'admin';
  const documents = isAdmin ? ADMIN : CONTENT;
  const kinds = isAdmin ? [COOKIE, BEARER] : [KEY, BEARER];
  const element = (id) => document.getElementById(id);
  const fill = (id, list) =>
    element(id).replaceChildren(...list.map(({ title }, index) => new Option(title, String(index))));

  function say(text, refused) {
    element('status').textContent = text;
    element('status').classList.toggle('refused', refused === true);
  }

  const LONG = 60;
  const operationsOf = ({ paths }) => Object.values(paths).reduce((sum, item) => sum + Object.keys(item).length, 0);

  let fetches = 0;
  async function show() {
    const current = (fetches += 1);
    const chosen = documents[Number(element('document').value)];
    const kind = kinds[Number(element('kind').value)];
    const headers = kind.headers(element('credential').value.trim());
    say('Loading…');
    let answer;
    try {
      const response = await fetch(chosen.url, { headers, credentials: 'same-origin' });
      answer = { ok: response.ok, status: response.status, body: await response.json() };
    } catch {
      answer = { ok: false, status: 0, body: { error: 'the service did not answer' } };
    }
    // A later fetch replaces this one.
    if (current !== fetches) return;
    if (!answer.ok) {
      element('reference').replaceChildren();
      say(
        answer.status === 401
          ? 'The document needs a credential: choose its kind and give its value.'
          : `Refused: ${answer.body.error}`,
        true,
      );
      return;
    }
    say(
      chosen.callable
        ? `${chosen.title}: “Try it out” calls this address with the credential above.`
        : `${chosen.title}: it is called on its own listener; open /docs there to try it out.`,
    );
    globalThis.SwaggerUIBundle({
      spec: answer.body,
      dom_id: '#reference',
      deepLinking: false,
      // Rendering a long list is slow: collapse all tags.
      docExpansion: operationsOf(answer.body) > LONG ? 'none' : 'list',
      defaultModelsExpandDepth: 0,
      filter: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      validatorUrl: null,
      supportedSubmitMethods: chosen.callable ? ['get', 'put', 'post', 'delete', 'patch'] : [],
      requestInterceptor: (request) => {
        if (new URL(request.url, location.href).origin === location.origin) Object.assign(request.headers, headers);
        return request;
      },
    });
  }

  fill('document', documents);
  fill('kind', kinds);
  element('access').addEventListener('submit', (event) => {
    event.preventDefault();
    void show();
  });
  element('document').addEventListener('change', () => void show());
  element('kind').addEventListener('change', () => {
    element('credential').disabled = kinds[Number(element('kind').value)] === COOKIE;
  });
  element('credential').disabled = isAdmin;
  // Do not fetch before the user submits: without a credential the request would be refused.
  say(
    isAdmin
      ? 'Choose a document and a credential, then Show. Signed in to the console at this address, none is needed.'
      : 'The document needs an API key or a bearer token.',
  );
})();
