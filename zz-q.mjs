import { DuckDBInstance } from '@duckdb/node-api'; import { readFileSync, readdirSync } from 'node:fs';
const cpu=()=>{const u=process.cpuUsage(); return (u.user+u.system)/1000};
const q=readFileSync('/tmp/gs/exp-path/sql.jsonl','utf8').trim().split('\n').map(l=>JSON.parse(l));
const dir='/tmp/gs/exp-path/r6/'+readdirSync('/tmp/gs/exp-path/r6').find(n=>/T/.test(n))+'/';
let b=cpu(); const db=await DuckDBInstance.create(':memory:',{threads:'1'}); const c=await db.connect(); console.log('create',(cpu()-b).toFixed(1));
for (const {k,s,v} of q){ const sql=s.replaceAll(/'[^']*\.tmp'/g,m=>m.includes('parquet')&&/COPY/.test(s)?"'/tmp/gs/exp-path/x.parquet'":m); const vals=(v??[]).map(x=>typeof x==='string'&&/\.tmp$/.test(x)?dir+x.replace(/.*0001-/,'').replace('.tmp',''):x);
 for (let r=0;r<2;r++){ b=cpu(); let e=''; try { const p=await c.prepare(sql); const m=cpu(); if(vals.length) p.bind(vals); const res=await p.runAndReadAll(); e=`prepare ${(m-b).toFixed(1)} run ${(cpu()-m).toFixed(1)}`;} catch(x){ try{ b=cpu(); await c.runAndReadAll(sql,vals); e='all '+(cpu()-b).toFixed(1);}catch(y){e='ERR '+y.message.slice(0,100)}} console.log(e, sql.length, sql.replace(/\s+/g,' ').slice(0,70)); } }
