function tell(e){var m=e.target.closest&&e.target.closest('svg [tabindex]');if(!m)return;
var t=m.querySelector('title'),o=m.closest('figure').querySelector('.tip');if(t&&o)o.textContent=t.textContent}
function enlarge(e){var g=e.target.closest&&e.target.closest('.map');if(!g)return;
var s=g.closest('figure').nextElementSibling;
s.querySelectorAll('.large').forEach(function(u){u.setAttribute('href','#'+g.dataset.map)});
s.querySelectorAll('.looks').forEach(function(l){l.hidden=l.dataset.map!==g.dataset.map});
s.querySelectorAll('.which').forEach(function(w){w.textContent=g.querySelector('title').textContent})}
function choose(e){var s=e.target.closest&&e.target.closest('select[data-group]');if(!s)return;
document.querySelectorAll('div[data-group="'+s.dataset.group+'"]').forEach(function(d){
d.hidden=d.dataset.choice!==s.value})}
document.addEventListener('change',choose);
['mouseover','focusin','click'].forEach(function(n){document.addEventListener(n,tell)});
['click','focusin'].forEach(function(n){document.addEventListener(n,enlarge)});
addEventListener('beforeprint',function(){
document.querySelectorAll('details:not(.long)').forEach(function(d){d.open=true})});
