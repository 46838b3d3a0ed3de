/* A client made from an OpenAPI document: it knows how to ask for each operation, and takes no answer that is not in the document. It
 * has no other knowledge of the service. */
import Ajv from '../../web/node_modules/ajv/dist/2020.js';

const JSON_TYPE = 'application/json';

export class Client {
  constructor(document, url, tokens) {
    Object.assign(this, { document, url, tokens, operations: new Map(), seen: new Map(), compiled: new Map() });
    this.ajv = new Ajv.default({ strict: true, strictTypes: false, strictRequired: false, allErrors: true, formats: {} });
    this.ajv.addVocabulary(['components', 'openapi', 'info', 'servers', 'paths']);
    this.ajv.addSchema(document, 'api');
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods)) {
        this.operations.set(operation.operationId, { path, method: method.toUpperCase(), ...operation });
        this.seen.set(operation.operationId, new Map());
      }
  }

  /* The schema at a place of the document, as a check that gives a text: what is wrong, or ''. */
  checker(...place) {
    const pointer = 'api#/' + place.map((p) => encodeURIComponent(String(p).replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    if (!this.compiled.has(pointer)) this.compiled.set(pointer, this.ajv.compile({ $ref: pointer }));
    const check = this.compiled.get(pointer);
    return (value) => (check(value) ? '' : this.ajv.errorsText(check.errors));
  }

  /* The operation that a request is for. */
  match(method, path) {
    for (const o of this.operations.values()) {
      const pattern = new RegExp('^' + o.path.replaceAll(/\{[^}]*\}/g, '[^/]+') + '$');
      if (o.method === method && pattern.test(path)) return o;
    }
    return null;
  }

  /* Throws if the document does not allow this answer. */
  check(operation, { status, headers, text }) {
    const where = `${operation.method} ${operation.path} answered ${status}`;
    const answer = operation.responses[status];
    if (!answer) throw new Error(`${where}, which is not in the document: ${text}`);
    for (const name of Object.keys(answer.headers ?? {}))
      if (!headers.get(name)) throw new Error(`${where} without the header ${name}`);
    const type = (headers.get('content-type') ?? '').split(';')[0];
    if (answer.content && !answer.content[type]) throw new Error(`${where} as ${type}`);
    if (!answer.content && text !== '') throw new Error(`${where} with a body`);
    let body = text;
    if (answer.content && type === JSON_TYPE) {
      body = JSON.parse(text);
      const wrong = this.checker('paths', operation.path, operation.method.toLowerCase(), 'responses', status, 'content', type, 'schema')(body);
      if (wrong) throw new Error(`${where}: ${wrong}: ${text}`);
    }
    const seen = this.seen.get(operation.operationId);
    seen.set(body?.error?.code ?? status, (seen.get(body?.error?.code ?? status) ?? 0) + 1);
    return body;
  }

  resolve(schema) {
    return schema.$ref ? this.document.components.schemas[schema.$ref.split('/').at(-1)] : schema;
  }

  /* An object for a schema: fields whose value is known by name, and those that must be there. */
  build(schema, known) {
    const shape = this.resolve(schema), out = {};
    for (const [name, field] of Object.entries(shape.properties))
      if (name in known) out[name] = known[name];
      else if (shape.required.includes(name)) out[name] = this.invent(field);
    return out;
  }

  invent(schema) {
    const s = this.resolve(schema);
    if (s.anyOf) return this.invent(s.anyOf[0]);
    if (s.enum) return s.enum[0];
    if ('const' in s) return s.const;
    return { string: 'x'.repeat(s.minLength ?? 1), integer: s.minimum ?? 0, number: s.minimum ?? 0, boolean: false, array: [], null: null, object: {} }[s.type];
  }

  /* The bodies that an operation takes as JSON: [schema, is an array]. */
  bodies(operation) {
    const schema = operation.requestBody?.content[JSON_TYPE]?.schema;
    return (schema?.anyOf ?? (schema ? [schema] : [])).map((s) => (s.type === 'array' ? [s.items, true] : [s, false]));
  }

  /* The body of a request, as the document wants it: an object, or of several `known` an array of them. */
  body(operation, known) {
    const many = Array.isArray(known), [schema] = this.bodies(operation).find(([, array]) => array === many);
    const body = many ? known.map((k) => this.build(schema, k)) : this.build(schema, known);
    const wrong = this.checker('paths', operation.path, operation.method.toLowerCase(), 'requestBody', 'content', JSON_TYPE, 'schema')(body);
    if (wrong) throw new Error(`${operation.operationId}: the client made a body that the document does not allow: ${wrong}`);
    return body;
  }

  /* Asks. `known` are values by name, for parameters and fields. Beside these: `batch` has those of several bodies, `body` is sent as it is
   * and may be wrong, as `media`; `token` is another one, or null for none. */
  async call(name, known = {}, other = {}) {
    const o = this.operations.get(name);
    let path = o.path;
    const query = new URLSearchParams(), headers = {};
    for (const p of o.parameters ?? []) {
      const value = p.name in known ? known[p.name] : p.required ? this.invent(p.schema) : undefined;
      if (value === undefined) continue;
      if (p.in === 'path') path = path.replace(`{${p.name}}`, encodeURIComponent(value));
      else if (p.in === 'query') query.set(p.name, value);
      else headers[p.name] = value;
    }
    const scope = o.security[0]?.token?.[0];
    const token = 'token' in other ? other.token : scope ? this.tokens[scope] : null;
    if (token) headers.Authorization = `Bearer ${token}`;
    const body = 'body' in other ? other.body : o.requestBody ? JSON.stringify(this.body(o, other.batch ?? known)) : undefined;
    if (body !== undefined) headers['Content-Type'] = other.media ?? JSON_TYPE;
    const search = query.size > 0 ? `?${query}` : '';
    const answer = await fetch(this.url + path + search, { method: o.method, headers, body });
    const text = await answer.text();
    return { status: answer.status, body: this.check(o, { status: answer.status, headers: answer.headers, text }) };
  }
}
